/** Starts the thread in which leases are renewed. */
import { extname } from 'node:path';
import { MessageChannel, Worker, type WorkerOptions } from 'node:worker_threads';
import type { LeaseRenewal } from './lease-messages.ts';
import type { LeaseThreadData } from './lease-thread.ts';

/**
 * A thread with connections of its own to the database of `url`. Should it fail, that is an uncaught exception: a worker
 * that cannot keep its claims is to drain and end.
 */
export function startLeaseThread(url: string): LeaseRenewal {
  const { port1: port, port2 } = new MessageChannel();
  const workerData: LeaseThreadData = { url, port: port2 };
  const thread = openThread('lease-thread', { workerData, transferList: [port2] });
  let isClosing = false;
  thread.on('error', (error) => {
    throw error;
  });
  thread.on('exit', (code) => {
    if (!isClosing) throw new Error(`the lease thread ended by itself, with ${code}`);
  });
  return {
    port,
    async close() {
      isClosing = true;
      port.close();
      await thread.terminate();
    },
  };
}

/** Node gives a thread none of the loaders of its process: from source, as in tests, it has to bring its own. */
function openThread(name: string, options: WorkerOptions): Worker {
  const extension = extname(import.meta.url);
  const file = new URL(`./${name}${extension}`, import.meta.url);
  if (extension !== '.ts') return new Worker(file, options);
  const load = `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(file.href)})))`;
  return new Worker(load, { ...options, eval: true, execArgv: ['--conditions=@fencepost/source'] });
}
