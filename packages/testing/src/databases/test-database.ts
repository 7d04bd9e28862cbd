/** A migrated database of its own for one test file (or one test): a clone of the run's template. */
import { atEndOfFile } from '../cleanup.ts';
import { TestDatabaseError } from '../errors.ts';
import { withConnection } from './connection.ts';
import { cloneName, templateName, type TestServer } from './template.ts';
import { withDatabase } from './url.ts';

export interface TestDatabase {
  readonly url: string;
  /** Ends every connection to it and drops it. Happens by itself when the test file is over. */
  readonly drop: () => Promise<void>;
}

const variable = 'FENCEPOST_TEST_SERVER';

/** Called once, before any test process starts: they inherit the environment. */
export function announceTestServer({ adminUrl, run }: TestServer): void {
  process.env[variable] = JSON.stringify({ adminUrl, run } satisfies TestServer);
}

/** @throws TestDatabaseError outside a run of vitest with this package's global setup */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { adminUrl, run } = announcedTestServer();
  const name = cloneName(run);
  await withConnection(adminUrl, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE ${templateName(run)}`),
  );
  const drop = async () => {
    await withConnection(adminUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  };
  atEndOfFile(drop);
  return { url: withDatabase(adminUrl, name), drop };
}

function announcedTestServer(): TestServer {
  const announced = process.env[variable];
  if (!announced) {
    throw new TestDatabaseError(
      `${variable} is not set: test databases exist only under vitest with the global setup of @fencepost/testing`,
    );
  }
  return JSON.parse(announced) as TestServer;
}
