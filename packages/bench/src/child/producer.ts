/**
 * The process that enqueues, and that looks whether everything is done. Its arguments: a system's name and the URL of
 * its store.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../clock.ts';
import { findContestant, pointOf } from '../systems/index.ts';
import type { Payload, Producer } from '../systems/system.ts';
import { Load } from './load.ts';
import { enqueueIn } from './enqueue-ways.ts';
import type { ProducerCalls } from './calls.ts';
import { serve } from './serve.ts';

/** Jobs a statement of the fill. */
const FILL_BATCH = 1_000;

const [name = '', url = ''] = process.argv.slice(2);
const contestant = findContestant(name);
if (contestant === undefined) throw new Error(`no system "${name}"`);
const system = await contestant.load(pointOf(contestant));

let opened: Promise<Producer> | undefined;
const producer = () => (opened ??= system.openProducer(url));
let load: Load | undefined;

serve<ProducerCalls>({
  async install() {
    await system.install?.(url);
    return null;
  },

  async withoutWakeUps() {
    if (!system.withoutWakeUps) throw new Error(`${name} cannot do without wake-ups`);
    await system.withoutWakeUps(url);
    return null;
  },

  async fill({ jobs, payloadBytes }) {
    const { enqueueMany } = await producer();
    const rest = payloadBytes > 0 ? { filler: 'x'.repeat(payloadBytes) } : {};
    for (let filled = 0; filled < jobs; filled += FILL_BATCH) {
      const count = Math.min(FILL_BATCH, jobs - filled);
      await enqueueMany(Array.from({ length: count }, (_, n): Payload => ({ n: filled + n, ...rest })));
    }
    return null;
  },

  async enqueue({ way, jobs }) {
    return enqueueIn(way, await producer(), jobs);
  },

  async probe({ probes, pauseMs: [shortest, longest] }) {
    const { enqueue } = await producer();
    const committedAt: number[] = [];
    for (let probe = 0; probe < probes; probe++) {
      await enqueue({ n: probe, probe });
      committedAt.push(now());
      // Of different lengths, so that no rhythm is measured.
      await sleep(shortest + Math.random() * (longest - shortest));
    }
    return committedAt;
  },

  async startLoad({ jobsPerSecond }) {
    load = new Load(await producer(), jobsPerSecond);
    return null;
  },

  async stopLoad() {
    if (load === undefined) throw new Error('no load was started');
    return load.stop();
  },

  async untilDrained() {
    const { isDrained } = await producer();
    for (;;) {
      // As of the moment in which the look began: what it takes is not the system's.
      const lookedAt = now();
      if (await isDrained()) return lookedAt;
      await sleep(1);
    }
  },
});
