/**
 * The demo: a database, the web app and the worker as processes of their own, a receiver, and events that find their
 * way from one to the other. Runs until Ctrl-C, which drains; with `--once`, one round, and exit code 1 unless every
 * event was delivered.
 */
import { EmbeddedPostgresError, TestDatabaseError, waitFor, withoutPassword } from '@fencepost/testing';
import { Api } from './api.ts';
import { openDatabase } from './database.ts';
import { DemoError } from './demo-error.ts';
import { emitEvents, eventTypes, failuresFor } from './emit.ts';
import { drain, listenForInterruption } from './end.ts';
import { Ledger } from './ledger.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import { say } from './report.ts';
import { build, startServices, type Services } from './services.ts';
import { readSettings, type Settings } from './settings.ts';

/** Slow enough to be watched. */
const ROUND = { count: 36, everyMs: 100 };
/** How long a round may take, retries included. */
const ROUND_MS = 60_000;

try {
  process.exitCode = await demo(readSettings(process.argv.slice(2), process.env));
} catch (error) {
  const expected = [DemoError, EmbeddedPostgresError, TestDatabaseError].some(
    (kind) => error instanceof kind,
  );
  console.error(expected ? (error as Error).message : error);
  process.exitCode = 1;
}

async function demo(settings: Settings): Promise<number> {
  say(settings.databaseUrl ? 'Migrating the database …' : 'Starting an embedded Postgres and migrating it …');
  const database = await openDatabase(settings);
  try {
    say(`Database: ${withoutPassword(database.url)}`);
    say('Building …');
    await build();
    return await run(settings, database.url);
  } finally {
    await database.stop();
  }
}

async function run(settings: Settings, databaseUrl: string): Promise<number> {
  const ledger = new Ledger();
  const problems: string[] = [];
  const receiver = await startReceiver(
    failuresFor,
    (arrival) => ledger.arrived(arrival),
    (problem) => problems.push(problem),
  );
  try {
    const services = await startServices(settings, databaseUrl, ({ msg, id, attempts, waitedMs }) => {
      if (msg !== 'job claimed') return;
      ledger.claimed({ jobId: String(id), attempt: Number(attempts), waitedMs: Number(waitedMs) });
    });
    problems.push(...(await play(settings, services, receiver, ledger)));
  } finally {
    await receiver.close();
  }
  say(`\n${ledger.summary().join('\n')}`);
  if (problems.length > 0) say(`\nNot as it should be:\n${problems.join('\n')}`);
  return problems.length > 0 ? 1 : 0;
}

/** Emits events until it is over, and drains. Resolves to what was not as it should be. */
async function play(
  settings: Settings,
  services: Services,
  { url, secret }: Receiver,
  ledger: Ledger,
): Promise<string[]> {
  const { signal, problems: interrupted } = listenForInterruption(services);
  const problems: string[] = [];
  try {
    const api = new Api(services.webUrl, settings.apiToken);
    await api.registerEndpoint({ url, secret, eventTypes });
    say(`\nWeb app and worker are up. Open ${services.webUrl}/ to watch.\n`);
    const emit = settings.once ? oneRound : untilInterrupted;
    problems.push(...(await Promise.race([emit(api, ledger, signal), interrupted])));
    if (settings.once && signal.aborted) problems.push('interrupted before the round was over');
  } finally {
    say('\nDraining …');
    problems.push(...(await drain(services)));
  }
  return problems;
}

/** Resolves to what was not delivered in time. */
async function oneRound(api: Api, ledger: Ledger, signal: AbortSignal): Promise<string[]> {
  await emitEvents(api, ledger, { ...ROUND, signal });
  const allDone = async () => (await findUndone(api, ledger)).length === 0;
  await waitFor(allDone, { timeout: ROUND_MS, interval: 200 }).catch(() => undefined);
  return findUndone(api, ledger);
}

async function untilInterrupted(api: Api, ledger: Ledger, signal: AbortSignal): Promise<string[]> {
  await emitEvents(api, ledger, { ...ROUND, signal });
  say('\nNow an event every two seconds, until Ctrl-C.\n');
  await emitEvents(api, ledger, { count: Infinity, everyMs: 2_000, signal });
  return [];
}

/** A line for each event that the receiver has not got, or whose job is not completed. */
async function findUndone(api: Api, ledger: Ledger): Promise<string[]> {
  const lines = await Promise.all(
    ledger.events().map(async ({ id, type, jobId, deliveries }) => {
      const job = await api.job(jobId);
      if (deliveries > 0 && job.state === 'completed') return [];
      return [
        `${type} ${id}: ${deliveries} deliveries, its job ${jobId} is ${job.state} after ${job.attempts} attempts`,
      ];
    }),
  );
  return lines.flat();
}
