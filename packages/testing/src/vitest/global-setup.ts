/** Once a run of vitest: a server, a migrated template, and word of both to the test processes. */
import { startTestRun } from '../databases/template.ts';
import { announceTestServer } from '../databases/test-database.ts';
import { EmbeddedPostgresError, TestDatabaseError } from '../errors.ts';
import { startPostgres } from '../postgres/start.ts';

export default async function setup(): Promise<() => Promise<void>> {
  try {
    return await startDatabases();
  } catch (error) {
    if (!(error instanceof TestDatabaseError || error instanceof EmbeddedPostgresError)) throw error;
    // What is missing or wrong is on the machine, not in the code: a sentence helps, a stack does not.
    console.error(`No tests were run: ${error.message}`);
    process.exit(1);
  }
}

async function startDatabases(): Promise<() => Promise<void>> {
  const server = await startPostgres();
  try {
    const run = await startTestRun(server.url, process.env['TEST_MIGRATED_DATABASE']);
    announceTestServer(run);
    return async () => {
      await run.end();
      await server.stop();
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
