/** One fleet: idle, woken by single jobs, and under load. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Enqueuer } from './enqueuer.ts';
import { Hosts } from './hosts.ts';
import { readWhile, type Reading } from './reading.ts';
import { startFleetServer, type FleetServer } from './server.ts';
import type { FleetSettings } from './settings.ts';
import { readWaits, type Waits } from './store/read-waits.ts';

/** The first sweeps, looks and cleanups, which all workers make as they start. */
const SETTLES_MS = 5_000;
/** Between single jobs: longer than workers need to go back to their longest sleep. */
const APART_S = 3;
const LONGEST_WARM_UP_S = 5;

export interface FleetResult {
  readonly workers: number;
  readonly rate: number;
  /** Of the workers' processes together, in bytes. */
  readonly residentSet: number;
  readonly idle: Reading;
  /** While one job after the other is enqueued and every worker sleeps. */
  readonly woken: Reading & { readonly enqueued: number };
  readonly load: Reading & {
    readonly waits: Waits;
    readonly enqueueMs: { readonly p50: number; readonly p95: number };
  };
  /** What workers said meanwhile. */
  readonly log: string;
}

/** @throws FleetError */
export async function measureFleet(workers: number, settings: FleetSettings): Promise<FleetResult> {
  const server = await startFleetServer(workers, settings);
  try {
    const { url, directUrl } = server;
    const hosts = await Hosts.start({ ...settings, workers, url, directUrl });
    try {
      return await measure(workers, settings, server, hosts);
    } finally {
      hosts.kill();
    }
  } finally {
    await server.stop();
  }
}

async function measure(
  workers: number,
  { rate: ratePerWorker, seconds }: FleetSettings,
  { session, directUrl }: FleetServer,
  hosts: Hosts,
): Promise<FleetResult> {
  const rate = ratePerWorker * workers;
  const enqueuer = new Enqueuer(directUrl);
  try {
    await sleep(SETTLES_MS);
    const idle = await readWhile(session, () => sleep(seconds * 1_000));

    const enqueued = Math.ceil(seconds / APART_S);
    const woken = await readWhile(session, async () => {
      for (let job = 0; job < enqueued; job++) {
        await enqueuer.one();
        await sleep(APART_S * 1_000);
      }
    });

    await enqueuer.offer(rate, Math.min(seconds, LONGEST_WARM_UP_S));
    enqueuer.forget();
    const from = new Date();
    const load = await readWhile(session, () => enqueuer.offer(rate, seconds));
    const waits = await readWaits(session, from, new Date());
    const log = hosts.log();
    await hosts.drain();
    return {
      workers,
      rate,
      residentSet: hosts.residentSet,
      idle,
      woken: { ...woken, enqueued },
      load: { ...load, waits, enqueueMs: percentiles(enqueuer.took()) },
      log,
    };
  } finally {
    await enqueuer.close();
  }
}

function percentiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}
