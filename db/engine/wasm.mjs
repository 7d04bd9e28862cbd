/**
 * Loads Prisma's schema engine from its WebAssembly module.
 *
 * The module's own entry imports a `.wasm` file, which Node does not do by itself; so it is instantiated by hand.
 */
import { readFile } from 'node:fs/promises';

/** The engine reached a state it did not expect, and cannot be used any more. */
export class EnginePanic extends Error {
  /** @override */
  name = 'EnginePanic';
}

/**
 * @typedef {object} SchemaEngineModule
 * @property {typeof import('@prisma/schema-engine-wasm').SchemaEngine} SchemaEngine
 * @property {() => string} version
 * @property {Promise<never>} broken rejects when the module panics or throws out of turn. The call in which that happens
 *   never settles, so whoever calls waits for this as well
 */

/** @returns {Promise<SchemaEngineModule>} */
export async function loadSchemaEngine() {
  const location = import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bindings = await import(location);
  const bytes = await readFile(new URL('./schema_engine_bg.wasm', location));

  /** @type {Promise<never>} */
  const broken = new Promise((_, reject) => {
    // Without this registry a panic dies on its own message.
    Object.assign(globalThis, {
      PRISMA_WASM_PANIC_REGISTRY: {
        set_message: (/** @type {string} */ message) => reject(new EnginePanic(message)),
      },
    });
    // What the module throws in a microtask of its own: the trap after a panic, arguments it does not understand.
    process.on('uncaughtException', reject);
  });
  broken.catch(() => {});

  const { instance } = await WebAssembly.instantiate(new Uint8Array(bytes), {
    './schema_engine_bg.js': bindings,
  });
  bindings.__wbg_set_wasm(instance.exports);
  /** @type {() => void} */ (instance.exports.__wbindgen_start)();
  return { SchemaEngine: bindings.SchemaEngine, version: bindings.version, broken };
}
