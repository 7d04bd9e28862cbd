/** One scenario: warm-up, baseline, fault, recovery; then pressure, the end of every replica under it, and the count. */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@fencepost/testing';
import { startBenchDatabase, type BenchDatabase } from './database.ts';
import {
  meanIn,
  median,
  ratesIn,
  readSample,
  secondsOf,
  totalOf,
  type Phase,
  type PhaseName,
  type Sample,
} from './phases.ts';
import { Replicas, type ReplicasOptions } from './replicas.ts';
import type { Measured } from './result.ts';
import type { Scenario } from './scenario.ts';
import type { BenchSettings } from './settings.ts';
import { countClaimsOf, countRows } from './store/jobs.ts';

/** More than two cores can take: the queue grows until the replicas are told to end. */
const PRESSURE = { times: 8, seconds: 3 };
/** Claims of a replica that was killed come back with their leases, and a burst has left its backlog. */
const CATCHES_UP_WITHIN_MS = 180_000;
const CATCH_UP_WORKERS = 128;

type Settings = Pick<BenchSettings, 'seconds' | 'rate'>;

/** @throws ScenarioError if a replica does not start, or ends by itself. */
export async function runScenario(scenario: Scenario, { seconds, rate }: Settings): Promise<Measured> {
  const samples: Sample[] = [];
  const phases: Phase[] = [];
  const database = await startBenchDatabase();
  const hear: ReplicasOptions['hear'] = (record) => {
    const sample = readSample(record);
    if (sample) samples.push(sample);
  };
  const replicas = await Replicas.startAll({ url: database.url, crew: scenario, rate, hear }).catch(
    async (error: unknown) => {
      await database.stop();
      throw error;
    },
  );
  try {
    const pass = async (name: PhaseName, act: (seconds: number) => Promise<void>) => {
      const from = Date.now();
      await Promise.race([act(secondsOf(name, seconds)), replicas.crashed]);
      phases.push({ name, from, to: Date.now() });
    };
    const quiet = (s: number) => sleep(s * 1_000);
    const { fault } = scenario;
    await pass('warmup', quiet);
    await pass(
      'baseline',
      fault ? quiet : (s) => quiet(s + secondsOf('fault', seconds) + secondsOf('recovery', seconds)),
    );
    if (fault) {
      await pass('fault', (s) => fault({ database, replicas }, s));
      await pass('recovery', quiet);
    }

    await replicas.offer(PRESSURE.times);
    await Promise.race([sleep(PRESSURE.seconds * 1_000), replicas.crashed]);
    const { waiting } = await countRows(database);
    const endings = await replicas.stopAll();
    const ended = endings.map(({ pid }) => pid);
    const leftRunning = await countClaimsOf(ended, database);
    const unfinished = await catchUp(database);
    const { rows, dead } = await countRows(database);
    return {
      outcome: 'measured',
      scenario: scenario.name,
      ...measured(phases, samples),
      lost: Math.max(0, totalOf('enqueue_rate', samples) - rows) + dead + unfinished,
      pressure: waiting,
      endings,
      leftRunning,
    };
  } finally {
    await replicas.close();
    await database.stop();
  }
}

function measured(phases: readonly Phase[], samples: readonly Sample[]) {
  const phase = (name: PhaseName) => phases.find((one) => one.name === name);
  const [baseline, fault, recovery] = [phase('baseline'), phase('fault'), phase('recovery')];
  return {
    baseline: baseline ? median(ratesIn(baseline, 'completion_rate', samples)) : 0,
    during: fault && meanIn(fault, 'completion_rate', samples),
    recovered: recovery && median(ratesIn(recovery, 'completion_rate', samples)),
  };
}

/** Another process works off what is left, and is told nothing new. Returns how many jobs it could not complete. */
async function catchUp(database: BenchDatabase): Promise<number> {
  const crew = { replicas: 1, workers: CATCH_UP_WORKERS, load: 'fixed' } as const;
  const replicas = await Replicas.startAll({ url: database.url, crew, rate: 0, hear: () => {} });
  const unfinished = async () => {
    const { waiting, running } = await countRows(database);
    return waiting + running;
  };
  try {
    await waitFor(async () => (await unfinished()) === 0, {
      timeout: CATCHES_UP_WITHIN_MS,
      interval: 500,
    }).catch(() => {});
    await replicas.stopAll();
    return await unfinished();
  } finally {
    await replicas.close();
  }
}
