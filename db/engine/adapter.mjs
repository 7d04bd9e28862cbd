/**
 * `@prisma/adapter-pg`, mended for the schema engine. As it comes it
 * - spreads a connection string over the shadow database's name, and so runs the migrations against the real database;
 * - opens a new connection whenever it likes, which loses the migration lock: that belongs to the session;
 * - splits scripts at every `;`, the ones inside a function's `$$` body included;
 * - does not know the column type `char`, in which the catalog keeps what kind a constraint is.
 */
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import { SingleSession } from './single-session.mjs';

/**
 * An adapter with one session to the target, opened by its first statement and closed by `dispose()`.
 *
 * @param {import('./database-url.mjs').DatabaseTarget} target
 * @returns {Promise<import('@prisma/driver-adapter-utils').SqlDriverAdapter>}
 */
export async function connectAdapter(target) {
  const session = new SingleSession(target);
  const adapter = await new PrismaPg(session, { schema: target.schema, disposeExternalPool: true }).connect();

  adapter.executeScript = (script) => session.runScript(script);

  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query);
    for (const column of session.charColumns.get(result.rows) ?? []) {
      result.columnTypes[column] = ColumnTypeEnum.Character;
    }
    return result;
  };
  return adapter;
}
