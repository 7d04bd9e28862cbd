/** The herd: jobs for one instant, or spread over a while, that the first replica lays up when the harness says so. */
import { ControlFile, parseObject } from './control-file.ts';
import type { HerdTally } from './herd-tally.ts';
import { rest } from './rest.ts';

/** The contract lets the file be read once a second. */
const READ_EVERY_MS = 1_000;
const AGAIN_AFTER_MS = 200;
const MOST_IN_BATCH = 500;
/** Of a spread herd, one batch covers no more than this. */
const BATCH_COVERS_MS = 100;

export interface HerdCommand {
  readonly id: string;
  readonly count: number;
  readonly runAtMs: number;
  readonly spreadMs: number;
}

export interface HerdBatch {
  readonly firstSeq: number;
  readonly size: number;
  readonly runAtMs: number;
}

/**
 * Waits for commands until `signal` aborts, and carries out each once.
 * @param lay enqueues one batch; what it throws is told to `failed`, and the batch is laid again, so that no herd is short.
 */
export async function layHerds(
  path: string,
  tally: HerdTally,
  parts: { lay: (batch: HerdBatch) => Promise<void>; failed: (error: unknown) => void; signal: AbortSignal },
): Promise<void> {
  const { lay, failed, signal } = parts;
  const file = new ControlFile<HerdCommand | undefined>(path, {
    initial: undefined,
    everyMs: READ_EVERY_MS,
    parse: parseCommand,
  });
  let done: string | undefined;
  while (!signal.aborted) {
    const command = file.read();
    if (command === undefined || command.id === done) {
      await rest(READ_EVERY_MS, signal);
      continue;
    }
    done = command.id;
    tally.preloadS = undefined;
    const startedAt = performance.now();
    for (const batch of herdBatches(command)) {
      while (!signal.aborted && !(await succeeds(() => lay(batch), failed)))
        await rest(AGAIN_AFTER_MS, signal);
      if (signal.aborted) return;
      tally.enqueued += batch.size;
    }
    tally.preloadS = (performance.now() - startedAt) / 1_000;
  }
}

/** One instant a batch, so that each goes in by one bulk enqueue. */
export function* herdBatches({ count, runAtMs, spreadMs }: HerdCommand): Generator<HerdBatch> {
  const most =
    spreadMs > 0
      ? Math.max(1, Math.min(MOST_IN_BATCH, Math.floor((count * BATCH_COVERS_MS) / spreadMs)))
      : MOST_IN_BATCH;
  for (let firstSeq = 0; firstSeq < count; firstSeq += most) {
    const offsetMs = Math.floor((spreadMs * firstSeq) / count);
    yield { firstSeq, size: Math.min(most, count - firstSeq), runAtMs: runAtMs + offsetMs };
  }
}

function parseCommand(text: string): HerdCommand | undefined {
  const { id, count, run_at_ms, spread_ms = 0 } = parseObject(text) ?? {};
  if (typeof id !== 'string' || id === '') return undefined;
  if (typeof count !== 'number' || typeof run_at_ms !== 'number' || typeof spread_ms !== 'number')
    return undefined;
  return { id, count, runAtMs: run_at_ms, spreadMs: spread_ms };
}

async function succeeds(work: () => Promise<void>, failed: (error: unknown) => void): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    failed(error);
    return false;
  }
}
