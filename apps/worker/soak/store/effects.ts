/** What handlers and enqueuer write of their own, beside the queue's table. Nothing here is unique: a second one shows. */
import type { QueueClient } from '@fencepost/queue';

export async function recordEffect(tx: QueueClient, job: string, fence: number): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO soak_effect (job, fence)
    VALUES (${job}::uuid, ${fence}::int)`;
}

export async function recordOutside(client: QueueClient, job: string, fence: number): Promise<void> {
  await client.$executeRaw`
    INSERT INTO soak_outside (job, fence)
    VALUES (${job}::uuid, ${fence}::int)`;
}

/** The row of the app that a job is enqueued with: one is there exactly if the other is. */
export async function recordOrder(tx: QueueClient, job: string): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO soak_order (job)
    VALUES (${job}::uuid)`;
}
