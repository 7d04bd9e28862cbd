/**
 * Finds the Postgres that the tests use: `TEST_DATABASE_URL`, else a container where a runtime answers, else the
 * embedded binaries. Whoever names those binaries wants them, and no container. It is always a real server.
 */
import { assertReachable } from '../databases/connection.ts';
import { startContainerPostgres } from './container.ts';
import { startEmbeddedPostgres } from './embedded.ts';
import { namedBinaries } from './installation.ts';

export interface PostgresServer {
  /** A role that may create databases, in a database that is only connected to, never written. */
  readonly url: string;
  readonly source: 'url' | 'testcontainers' | 'embedded';
  /** Leaves a server of `TEST_DATABASE_URL` running. */
  readonly stop: () => Promise<void>;
}

/** @throws TestDatabaseError or EmbeddedPostgresError saying what is missing or wrong */
export async function startPostgres(): Promise<PostgresServer> {
  const url = process.env['TEST_DATABASE_URL'];
  if (url) {
    await assertReachable('TEST_DATABASE_URL', url);
    return { url, source: 'url', stop: async () => undefined };
  }

  const container = namedBinaries()
    ? undefined
    : await startContainerPostgres().catch((error: Error) => {
        // For instance without a network to pull the image from.
        console.warn(
          `The container runtime cannot run Postgres, so the embedded one is used: ${error.message}`,
        );
        return undefined;
      });
  if (container) {
    const stop = async () => void (await container.stop());
    return { url: container.getConnectionUri(), source: 'testcontainers', stop };
  }

  const embedded = await startEmbeddedPostgres();
  return { url: embedded.url, source: 'embedded', stop: embedded.stop };
}
