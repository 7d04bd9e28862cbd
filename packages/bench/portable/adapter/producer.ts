/**
 * When to enqueue how many. At a fixed rate the harness says so on stdin, or the adapter keeps the rate by itself; with a
 * target depth it fills up what is missing. A batch that fails is not offered again: what the database has made of it is
 * not known.
 */
import { createInterface } from 'node:readline';
import type { AdapterConfig } from './config.ts';
import { ControlFile, parseRate } from './control-file.ts';
import { Credit } from './credit.ts';
import type { Observer } from './observer.ts';
import { rest } from './rest.ts';
import type { Tally } from './tally.ts';

/** After a batch that failed: the database is away, or about to be. */
const REST_MS = 200;

export interface ProducerParts {
  readonly config: AdapterConfig;
  readonly tally: Tally;
  readonly observer: Observer;
  readonly stdin: NodeJS.ReadableStream;
  enqueue(count: number): Promise<void>;
  failed(error: unknown): void;
}

/** Until `signal` aborts; ends with the batch that is under way then. */
export async function produce(parts: ProducerParts, signal: AbortSignal): Promise<void> {
  const { config, tally } = parts;
  const rate = new ControlFile(config.rateFile, { initial: config.rate, everyMs: 0, parse: parseRate });
  const targetRate = () => (tally.targetRate = rate.read());
  if (config.producerMode === 'depth-target') return fillUp(parts, signal);
  if (config.pacing === 'harness') return takeTokens(parts, targetRate, signal);
  return keepRate(parts, targetRate, signal);
}

async function keepRate(parts: ProducerParts, targetRate: () => number, signal: AbortSignal): Promise<void> {
  const { batchMax, batchMs } = parts.config;
  const credit = new Credit(performance.now());
  while (!signal.aborted) {
    const count = credit.take(targetRate(), performance.now(), batchMax);
    if (count > 0) await offer(parts, count, signal);
    // A full batch: more may be owed already.
    if (count < batchMax) await rest(batchMs, signal);
  }
}

/** One token after the other, each one call. What cannot be taken in time waits in the pipe. */
async function takeTokens(
  parts: ProducerParts,
  targetRate: () => number,
  signal: AbortSignal,
): Promise<void> {
  targetRate();
  for await (const line of createInterface({ input: parts.stdin, signal })) {
    const count = Number(/^ENQUEUE (\d{1,6})$/.exec(line.trim())?.[1] ?? 0);
    // What was written before the rate fell to 0 is not to be offered any more.
    if (count > 0 && targetRate() > 0) await offer(parts, count, signal);
    if (signal.aborted) return;
  }
}

async function fillUp(parts: ProducerParts, signal: AbortSignal): Promise<void> {
  const { batchMax, batchMs, targetDepth } = parts.config;
  // Not one by one, as they are claimed.
  const batch = Math.min(batchMax, targetDepth);
  while (!signal.aborted) {
    const isMissing = targetDepth - parts.observer.estimatedDepth() >= batch;
    if (batch > 0 && isMissing) await offer(parts, batch, signal);
    else await rest(batchMs, signal);
  }
}

async function offer({ enqueue, failed }: ProducerParts, count: number, signal: AbortSignal): Promise<void> {
  try {
    await enqueue(count);
  } catch (error) {
    failed(error);
    await rest(REST_MS, signal);
  }
}
