/** The process that works. Its arguments: a system's name and the URL of its store. */
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../clock.ts';
import { findContestant, pointOf } from '../systems/index.ts';
import type { Handler, SystemWorker } from '../systems/system.ts';
import type { WorkerCalls } from './calls.ts';
import { serve, tell } from './serve.ts';

const REPORT_MS = 10;

const [name = '', url = ''] = process.argv.slice(2);
const contestant = findContestant(name);
if (contestant === undefined) throw new Error(`no system "${name}"`);
const system = await contestant.load(pointOf(contestant));

let worker: SystemWorker | undefined;
let count = 0;
let firstAt = 0;

function counted(handlerMs: number): Handler {
  return ({ probe }) => {
    count += 1;
    if (count === 1) firstAt = now();
    if (probe !== undefined) tell({ event: 'probe started', probe, at: now() });
    if (handlerMs > 0) return sleep(handlerMs);
  };
}

let told = 0;
setInterval(() => {
  if (count === told) return;
  told = count;
  tell({ event: 'starts', count, firstAt });
}, REPORT_MS).unref();

serve<WorkerCalls>({
  async open({ handlerMs, concurrency }) {
    worker = await system.openWorker(url, { handler: counted(handlerMs), concurrency });
    return null;
  },
  async go() {
    await worker?.go();
    return null;
  },
  async residentMemory() {
    return process.memoryUsage.rss();
  },
});
