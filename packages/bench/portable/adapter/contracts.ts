/**
 * The jobs of the bench. What the harness calls a logical queue is a job type here: each type is claimed for itself, and
 * slots are dealt out between those that have something due. Herd jobs are a type of their own, so that they are counted
 * apart, as the harness wants them.
 */
import { defineJob, type JobContract } from '@fencepost/queue';
import { z } from 'zod';

const PAYLOAD = z.object({
  seq: z.number(),
  /** By the wall clock that the replicas of one host share. */
  enqueued_at_ms: z.number(),
  payload_padding: z.string(),
  fail: z.enum(['transient', 'poison']).optional(),
  fail_attempts: z.number().optional(),
  run_at_ms: z.number().optional(),
});

export type BenchPayload = z.infer<typeof PAYLOAD>;
export type BenchContract = JobContract<typeof PAYLOAD>;

export interface BenchContracts {
  /** At least one. */
  readonly queues: readonly BenchContract[];
  readonly herd: BenchContract;
}

/** Everything that the harness says nothing of is what the library does by itself. */
export function benchContracts(queues: number, maxAttempts: number | undefined): BenchContracts {
  const contract = (type: string) =>
    defineJob({ type, payload: PAYLOAD, ...(maxAttempts !== undefined && { maxAttempts }) });
  return {
    queues: Array.from({ length: queues }, (_, queue) => contract(`bench.queue-${queue}`)),
    herd: contract('bench.herd'),
  };
}
