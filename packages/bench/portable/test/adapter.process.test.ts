/** The contract of the public harness, kept by the adapter in a process of its own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, waitFor } from '@fencepost/testing';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../adapter.json' with { type: 'json' };
import { startReplica, type AdapterRecord, type Replica } from '../scenarios/replica.ts';

const REQUIRED = [
  ...['claim_p50_ms', 'claim_p95_ms', 'claim_p99_ms'],
  ...['enqueue_rate', 'completion_rate', 'queue_depth'],
];
/** For ticks of a second on a machine that is busy. */
const PATIENCE = { timeout: 60_000 };

let folder: string;
let url: string;
let replica: Replica | undefined;
let records: AdapterRecord[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fencepost-adapter-'));
});

afterEach(async () => {
  replica?.signal('SIGKILL');
  await replica?.exited;
});

afterAll(() => rm(folder, { recursive: true }));

async function start(env: Record<string, string>, rate?: number): Promise<Replica> {
  ({ url } = await createTestDatabase());
  records = [];
  const base = { DATABASE_URL: url, SAMPLE_EVERY_S: '1', WORKER_COUNT: '8', PRODUCER_RATE: '100' };
  replica = await startReplica({
    env: { ...base, ...env },
    rate,
    hear: (record) => void records.push(record),
  });
  return replica;
}

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** Of the jobs that have been completed. */
async function typesOf(): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ type: string }>(
    `SELECT DISTINCT "type" FROM job_queue WHERE state = 'completed' ORDER BY 1`,
  );
  await client.end();
  return rows.map(({ type }) => type);
}

/** What the samples of one metric say, in their order. */
function valuesOf(metric: string): number[] {
  return records.filter((record) => record['metric'] === metric).map(({ value }) => Number(value));
}

function last(metric: string): number | undefined {
  return valuesOf(metric).at(-1);
}

it('describes itself, then tells every required metric at every tick, one tick a second', async () => {
  await start({});
  await waitFor(() => valuesOf('completion_rate').filter((rate) => rate > 0).length > 2, PATIENCE);

  const [descriptor, ...samples] = records;
  expect(descriptor).toMatchObject({
    kind: 'descriptor',
    system: manifest.system,
    event_tables: manifest.event_tables,
    extensions: manifest.extensions,
    version: expect.stringMatching(/^fencepost@\d/),
    schema_version: expect.stringMatching(/^\d{14}_/),
  });
  const ticks = [...new Set(samples.map(({ t }) => String(t)))];
  for (const t of ticks) {
    const tick = samples.filter((sample) => sample['t'] === t);
    expect(new Date(t).toISOString()).toBe(t);
    expect(tick.map(({ metric }) => metric)).toEqual(expect.arrayContaining(REQUIRED));
    for (const sample of tick) {
      expect(sample).toMatchObject({ kind: 'adapter', subject_kind: 'adapter', subject: '', instance_id: 0 });
      expect(Number.isFinite(sample['value'])).toBe(true);
    }
  }
  const seconds = ticks.map((t) => Math.floor(Date.parse(t) / 1_000));
  expect(new Set(seconds).size).toBe(seconds.length);
});

it('tells what was left and exits with 0 on SIGTERM', async () => {
  const { signal, exited } = await start({});
  await waitFor(() => (last('completion_rate') ?? 0) > 0, PATIENCE);
  const before = records.length;
  signal('SIGTERM');

  expect(await exited).toEqual({ code: 0, signal: null });
  expect(records.slice(before).map(({ metric }) => metric)).toContain('completion_rate');
});

it('is told by nobody but the first replica how deep the queue is', async () => {
  await start({ BENCH_INSTANCE_ID: '1' });
  await waitFor(() => valuesOf('completion_rate').length > 1, PATIENCE);

  expect(valuesOf('queue_depth')).toEqual([]);
});

describe('the producer', () => {
  it('stops at a rate of 0 in the control file, and goes on when it rises', async () => {
    const control = await file('rate', '0');
    await start({ PRODUCER_RATE_CONTROL_FILE: control });
    await waitFor(() => valuesOf('enqueue_rate').length > 2, PATIENCE);
    expect(valuesOf('enqueue_rate').every((rate) => rate === 0)).toBe(true);

    await file('rate', '50');
    await waitFor(() => (last('enqueue_rate') ?? 0) > 0, PATIENCE);
    expect(last('producer_target_rate')).toBe(50);
  });

  it('enqueues what comes on stdin where the harness paces, and drops it while the rate is 0', async () => {
    const control = await file('rate', '0');
    const pacing = { PRODUCER_PACING: 'harness', PRODUCER_RATE_CONTROL_FILE: control };
    await start(pacing, 100);
    await waitFor(() => valuesOf('enqueue_rate').length > 2, PATIENCE);
    expect(valuesOf('enqueue_rate').every((rate) => rate === 0)).toBe(true);

    await file('rate', '100');
    await waitFor(() => (last('completion_rate') ?? 0) > 0, PATIENCE);
  });

  it('offers nothing by itself where the harness paces', async () => {
    await start({ PRODUCER_PACING: 'harness' });
    await waitFor(() => valuesOf('enqueue_rate').length > 2, PATIENCE);

    expect(valuesOf('enqueue_rate').every((rate) => rate === 0)).toBe(true);
  });

  it('fills the queue up to its target depth while the gate is shut, and the worker begins when it opens', async () => {
    const gate = await file('gate', '');
    await start({ PRODUCER_MODE: 'depth-target', TARGET_DEPTH: '300', CONSUMER_GATE_FILE: gate });
    await waitFor(() => last('queue_depth') === 256, PATIENCE);
    expect(valuesOf('completion_rate').every((rate) => rate === 0)).toBe(true);
    expect(Math.max(...valuesOf('queue_depth'))).toBeLessThanOrEqual(300);

    await file('gate', 'open\n');
    await waitFor(() => (last('completion_rate') ?? 0) > 0, PATIENCE);
  });

  it('spreads its batches over the logical queues, and all of them are consumed', async () => {
    await start({ BENCH_QUEUE_COUNT: '3', PRODUCER_RATE: '300' });
    await waitFor(() => valuesOf('completion_rate').filter((rate) => rate > 0).length > 1, PATIENCE);

    expect(await typesOf()).toEqual(['bench.queue-0', 'bench.queue-1', 'bench.queue-2']);
  });
});

it('fails the jobs that a plan marks, and leaves their retries and their end to the library', async () => {
  const plan = await file('plan', '{"transient_pct": 40, "poison_pct": 20, "transient_failures": 1}');
  await start({ JOB_FAILURE_CONTROL_FILE: plan, JOB_MAX_ATTEMPTS: '2' });

  for (const metric of ['injected_failure_rate', 'retried_completion_rate', 'poison_exhausted_rate']) {
    await waitFor(() => valuesOf(metric).some((rate) => rate > 0), PATIENCE);
  }
});

it('lays a herd once, and none of it starts early', async () => {
  const command = { id: 'one', count: 60, run_at_ms: Date.now() + 6_000, spread_ms: 1_000 };
  await start({ SCHEDULE_CONTROL_FILE: await file('herd', JSON.stringify(command)), PRODUCER_RATE: '1' });
  await waitFor(() => valuesOf('scheduled_completion_rate').some((rate) => rate > 0), PATIENCE);
  await waitFor(() => last('schedule_started_total') === 60, PATIENCE);

  expect(last('schedule_enqueued_total')).toBe(60);
  expect(last('schedule_early_total')).toBe(0);
  expect(last('schedule_lateness_max_ms')).toBeGreaterThan(0);
});
