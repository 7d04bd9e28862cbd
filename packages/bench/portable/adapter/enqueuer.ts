/** Puts jobs into the queue, many in one call, through the library's own bulk enqueue. */
import { randomBytes } from 'node:crypto';
import type { PrismaClient } from '@fencepost/db';
import { enqueueMany } from '@fencepost/queue';
import { wallClockMs } from './clock.ts';
import type { AdapterConfig } from './config.ts';
import type { BenchContracts, BenchPayload } from './contracts.ts';
import type { Failures } from './failures.ts';
import type { HerdBatch } from './herd.ts';
import type { Tally } from './tally.ts';

/** What the payload's other fields take, about. */
const OTHER_FIELDS_BYTES = 96;

export class Enqueuer {
  readonly #client: PrismaClient;
  readonly #contracts: BenchContracts;
  readonly #failures: Failures;
  readonly #tally: Tally;
  readonly #padding: string;
  #seq = 0;
  #batches = 0;

  constructor(
    client: PrismaClient,
    parts: { config: AdapterConfig; contracts: BenchContracts; failures: Failures; tally: Tally },
  ) {
    this.#client = client;
    this.#contracts = parts.contracts;
    this.#failures = parts.failures;
    this.#tally = parts.tally;
    this.#padding = padding(parts.config);
  }

  /** One call: the logical queues take turns by batches. */
  async enqueue(count: number): Promise<void> {
    const { queues } = this.#contracts;
    const contract = queues[this.#batches++ % queues.length]!;
    const items = Array.from({ length: count }, () => ({ payload: this.#payload() }));
    const startedAt = performance.now();
    await enqueueMany(this.#client, contract, items);
    const tookMs = performance.now() - startedAt;
    this.#tally.enqueued += count;
    this.#tally.producerCall.record(tookMs);
    for (let job = 0; job < count; job++) this.#tally.producer.record(tookMs / count);
  }

  async layHerd({ firstSeq, size, runAtMs }: HerdBatch): Promise<void> {
    const items = Array.from({ length: size }, (_, index) => ({
      payload: { ...this.#plain(firstSeq + index), run_at_ms: runAtMs },
      runAt: new Date(runAtMs),
    }));
    await enqueueMany(this.#client, this.#contracts.herd, items);
  }

  #payload(): BenchPayload {
    this.#seq += 1;
    return { ...this.#plain(this.#seq), ...this.#failures.markFor(this.#seq) };
  }

  #plain(seq: number): BenchPayload {
    return { seq, enqueued_at_ms: wallClockMs(), payload_padding: this.#padding };
  }
}

function padding({ payloadBytes, payloadKind }: AdapterConfig): string {
  const length = Math.max(0, payloadBytes - OTHER_FIELDS_BYTES);
  return payloadKind === 'random'
    ? randomBytes(length).toString('base64').slice(0, length)
    : 'x'.repeat(length);
}
