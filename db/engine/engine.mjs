/** One schema engine, bound to one database: calls its methods, and makes an `EngineError` of whatever goes wrong. */
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { connectAdapter } from './adapter.mjs';
import { describeFailure } from './failures.mjs';
import { ShadowDatabases } from './shadow-database.mjs';
import { EnginePanic, loadSchemaEngine } from './wasm.mjs';

/** @typedef {import('./database-url.mjs').DatabaseTarget} DatabaseTarget */

/** A method failed. `code` is Prisma's (`P1001`), where the failure has one. */
export class EngineError extends Error {
  /**
   * @param {string} message
   * @param {{ code?: string | undefined, isPanic?: boolean }} [details]
   */
  constructor(message, { code, isPanic = false } = {}) {
    super(message);
    this.name = 'EngineError';
    this.code = code;
    this.isPanic = isPanic;
  }
}

/** The protocol's method names are the module's, but for this one. */
const MODULE_NAMES = new Map([['getDatabaseVersion', 'version']]);

/**
 * An engine that loads and connects with its first call.
 *
 * @param {object} options
 * @param {DatabaseTarget} options.target
 * @param {DatabaseTarget} options.shadowServer where shadow databases are made, by a role that may make them
 * @param {[path: string, content: string][]} options.datamodels Prisma schema files
 * @param {(line: string) => void} options.log takes the engine's own log, one JSON object at a time
 */
export function createEngine({ target, shadowServer, datamodels, log }) {
  const shadowDatabases = new ShadowDatabases(shadowServer);
  /** @type {import('@prisma/driver-adapter-utils').SqlDriverAdapter[]} */
  const adapters = [];
  const factory = bindMigrationAwareSqlAdapterFactory({
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    async connect() {
      const adapter = await connectAdapter(target);
      adapters.push(adapter);
      return adapter;
    },
    connectToShadowDb: () => shadowDatabases.connect(),
  });
  /** @type {ReturnType<typeof start> | undefined} */
  let started;

  async function start() {
    const { SchemaEngine, broken } = await loadSchemaEngine();
    // An empty list is not the same as none: it is refused.
    const options = { datamodels: datamodels.length === 0 ? undefined : datamodels };
    const engine = await Promise.race([broken, SchemaEngine.new(options, log, factory)]);
    return { engine: /** @type {Record<string, any>} */ (engine), broken };
  }

  return {
    /**
     * @param {string} method
     * @param {unknown} params
     * @throws {EngineError}
     */
    async call(method, params) {
      try {
        started ??= start();
        const { engine, broken } = await started;
        const name = MODULE_NAMES.get(method) ?? method;
        if (typeof engine[name] !== 'function') {
          throw new EngineError(`The schema engine has no method ${method}.`);
        }
        return await Promise.race([broken, (async () => engine[name](params))()]);
      } catch (error) {
        throw asEngineError(error, factory.errorRegistry);
      }
    },

    /** Also drops the shadow databases that a panic or an impatient end left behind. */
    async close() {
      await shadowDatabases.dropAll();
      for (const adapter of adapters) await adapter.dispose();
    },
  };
}

/**
 * @param {unknown} error
 * @param {import('@prisma/driver-adapter-utils').ErrorRegistry} registry what the adapter threw and the engine only numbers
 */
function asEngineError(error, registry) {
  if (error instanceof EngineError) return error;
  if (error instanceof EnginePanic) return new EngineError(error.message, { isPanic: true });
  const thrown = /** @type {Error} */ (error).message.replace(/External error id#(\d+)/, (text, id) => {
    const cause = registry.consumeError(Number(id))?.error;
    return cause instanceof Error ? cause.message : text;
  });
  const { message, code } = describeFailure(thrown);
  return new EngineError(message, { code });
}
