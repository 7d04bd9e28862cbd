/**
 * The soak: workers at work, an enqueuer that keeps a ledger, a driver that does to them what production does; then
 * peace, until everything has come to its end; then judgement.
 */
import { waitFor } from '@fencepost/testing';
import { startSoakDatabase, type SoakDatabase } from './database.ts';
import { inflictFaults, type Inflicted } from './driver.ts';
import { Enqueuer } from './enqueuer.ts';
import type { World } from './faults/fault.ts';
import { FAULTS } from './faults/index.ts';
import { Fleet } from './fleet.ts';
import { judge, type Verdict } from './judge.ts';
import type { Evidence } from './judge/evidence.ts';
import { keepLogs } from './keep-logs.ts';
import { Ledger } from './ledger.ts';
import { startProxy } from './proxy.ts';
import { Random } from './random.ts';
import type { SoakSettings } from './settings.ts';
import { countUnfinished, readEvidence } from './store/evidence.ts';

/** Unfinished jobs before the first fault. */
const ENOUGH_TO_LOSE = 50;
/** From the last fault and the last job to the end of all of them. */
const CATCHES_UP_WITHIN_MS = 180_000;

export interface SoakResult extends Verdict {
  readonly faults: Inflicted['byKind'];
  /** Transactions of the enqueuer that failed before there was a job in them. */
  readonly failedTransactions: number;
}

/** @param say told what is going on. */
export async function soak(settings: SoakSettings, say: (text: string) => void): Promise<SoakResult> {
  const random = new Random(settings.seed);
  const database = await startSoakDatabase();
  const proxies = await Promise.all(
    Array.from({ length: settings.workers + 1 }, () => startProxy(database.appUrl)),
  );
  const [enqueuersProxy, ...workersProxies] = proxies;
  const ledger = new Ledger();
  const enqueuer = new Enqueuer(enqueuersProxy!, ledger, () => countUnfinished(database));
  const fleet = new Fleet(workersProxies, settings);
  try {
    await fleet.start();
    enqueuer.start(random.fork());
    await waitFor(async () => (await countUnfinished(database)) >= ENOUGH_TO_LOSE, {
      timeout: CATCHES_UP_WITHIN_MS,
    });
    say(`${settings.workers} workers are up, and have something to do; faults for ${settings.seconds} s`);
    const world: World = { database, fleet, enqueuer, ledger, proxies };
    const { byKind, problems } = await inflictFaults(world, FAULTS, random.fork(), settings.seconds * 1_000);
    await enqueuer.stop();

    say('faults and enqueuing have stopped; every worker is deployed anew, and catches up');
    await fleet.deployAll();
    await comesToRest(database);
    await fleet.close();

    const evidence = await gather(database, fleet, ledger);
    const verdict = judge(evidence);
    const own = problems.map((detail) => ({ rule: 'the soak itself works', detail }));
    const violations = [...own, ...verdict.violations];
    if (violations.length > 0) say(`logs: ${await keepLogs(settings.seed, evidence.processes)}`);
    return { ...verdict, violations, faults: byKind, failedTransactions: ledger.failures };
  } finally {
    fleet.kill();
    await enqueuer.close();
    proxies.forEach((proxy) => proxy.close());
    await database.stop();
  }
}

/** Or not: what has not by then is what the judge finds. */
async function comesToRest(database: SoakDatabase): Promise<void> {
  const isAtRest = async () => (await countUnfinished(database)) === 0;
  await waitFor(isAtRest, { timeout: CATCHES_UP_WITHIN_MS, interval: 250 }).catch(() => {});
}

async function gather(
  database: SoakDatabase,
  fleet: Fleet,
  { entries, cancelsAsked }: Ledger,
): Promise<Evidence> {
  return {
    ...(await readEvidence(database)),
    ledger: entries,
    cancelsAsked,
    processes: fleet.all.map(({ name, sent, exit, process }) => ({
      ...{ name, sent, lines: process.lines },
      exit: exit ?? { code: null, signal: null },
    })),
  };
}
