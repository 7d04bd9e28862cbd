/** The engine's one-shot commands, for which the CLI starts a process each and reads its exit code. */
import { connectAdapter } from './adapter.mjs';
import { createEngine, EngineError } from './engine.mjs';

/** @typedef {import('./database-url.mjs').DatabaseTarget} DatabaseTarget */

/** Databases that a server has before any other. */
const MAINTENANCE_DATABASES = ['postgres', 'template1'];

/** duplicate_database; unique_violation is what the loser of a race gets. */
const ALREADY_THERE = new Set(['42P04', '23505']);

/**
 * @param {DatabaseTarget} target
 * @throws {EngineError} P1000, P1001, P1003, …
 */
export async function canConnectToDatabase(target) {
  const engine = createEngine({ target, shadowServer: target, datamodels: [], log: () => {} });
  try {
    await engine.call('ensureConnectionValidity', { datasource: { tag: 'ConnectionString', url: '' } });
  } finally {
    await engine.close();
  }
}

/**
 * Creates the target's database, if nobody else does so at the same time.
 *
 * @param {DatabaseTarget} target
 * @throws {EngineError}
 */
export async function createDatabase(target) {
  const server = { ...target, database: await findMaintenanceDatabase(target) };
  const adapter = await connectAdapter(server);
  try {
    await adapter.executeScript(`CREATE DATABASE "${target.database.replaceAll('"', '""')}"`);
  } catch (error) {
    const { cause, message } = /** @type {import('@prisma/driver-adapter-utils').DriverAdapterError} */ (
      error
    );
    if (ALREADY_THERE.has(cause.originalCode ?? '')) return;
    throw new EngineError(`Failed to create database: ${message}`, { code: 'P3000' });
  } finally {
    await adapter.dispose();
  }
}

/** @param {DatabaseTarget} target */
async function findMaintenanceDatabase(target) {
  /** @type {unknown} */
  let failure;
  for (const database of MAINTENANCE_DATABASES) {
    try {
      await canConnectToDatabase({ ...target, database });
      return database;
    } catch (error) {
      failure = error;
      if (/** @type {EngineError} */ (error).code !== 'P1003') break;
    }
  }
  throw failure;
}
