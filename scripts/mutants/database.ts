/**
 * The one server that all runs share, and a template on it that is migrated once. Most runs clone that one; migrating
 * takes longer than most tests.
 */
import { startPostgres, startTestRun, templateName } from '@fencepost/testing';

export interface Database {
  /** Of a role that may create databases. */
  readonly url: string;
  /** The name of the migrated template. */
  readonly migrated: string;
  readonly stop: () => Promise<void>;
}

export async function startDatabase(): Promise<Database> {
  const server = await startPostgres();
  try {
    const run = await startTestRun(server.url);
    const stop = async () => {
      await run.end();
      await server.stop();
    };
    return { url: server.url, migrated: templateName(run.run), stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
