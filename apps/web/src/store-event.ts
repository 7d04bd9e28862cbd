/**
 * What an event sets off, in one transaction: the event, a delivery to each endpoint that subscribed to its type, and
 * the job of each delivery. Either all of it is committed or none.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Prisma, PrismaClient } from '@fencepost/db';
import { webhookDelivery } from '@fencepost/jobs';
import { enqueueMany } from '@fencepost/queue';

export interface NewEvent {
  readonly type: string;
  readonly payload: Record<string, unknown>;
  /** The same key makes one event, however often and however concurrently it is sent. */
  readonly idempotencyKey: string | null;
}

export type StoredEvent =
  | { readonly outcome: 'created'; readonly id: string; readonly jobIds: readonly string[] }
  /** The key has made this event before, of the same type and payload. */
  | { readonly outcome: 'deduplicated'; readonly id: string; readonly jobIds: readonly string[] }
  /** The key belongs to another event. */
  | { readonly outcome: 'key_taken'; readonly id: string };

export async function storeEvent(prisma: PrismaClient, event: NewEvent): Promise<StoredEvent> {
  try {
    return await prisma.$transaction((tx) => createEvent(tx, event));
  } catch (error) {
    // Whoever sends a key while it is being stored waits for that commit, and then fails the unique index.
    const earlier = isUniqueViolation(error) ? await findEarlier(prisma, event) : undefined;
    if (earlier) return earlier;
    throw error;
  }
}

async function createEvent(tx: Prisma.TransactionClient, event: NewEvent): Promise<StoredEvent> {
  const { type, idempotencyKey } = event;
  const payload = event.payload as Prisma.InputJsonObject;
  const { id: eventId } = await tx.event.create({
    data: { type, payload, idempotencyKey },
    select: { id: true },
  });
  const endpoints = await tx.endpoint.findMany({
    where: { eventTypes: { has: type } },
    orderBy: { id: 'asc' },
    select: { id: true },
  });

  const jobs = await enqueueMany(
    tx,
    webhookDelivery,
    endpoints.map(({ id: endpointId }) => ({
      payload: { eventId, endpointId },
      dedupeKey: `${eventId}:${endpointId}`,
    })),
  );
  const jobIds = jobs.map((job) => job.id);
  await tx.delivery.createMany({
    data: endpoints.map(({ id: endpointId }, index) => ({ eventId, endpointId, jobId: jobIds[index] ?? '' })),
  });
  return { outcome: 'created', id: eventId, jobIds };
}

async function findEarlier(prisma: PrismaClient, event: NewEvent): Promise<StoredEvent | undefined> {
  if (event.idempotencyKey === null) return undefined;
  const earlier = await prisma.event.findUnique({
    where: { idempotencyKey: event.idempotencyKey },
    include: { deliveries: { orderBy: { endpointId: 'asc' }, select: { jobId: true } } },
  });
  if (!earlier) return undefined;
  const { id } = earlier;
  // As it was written: JSON knows no -0.
  const payload: unknown = JSON.parse(JSON.stringify(event.payload));
  if (earlier.type !== event.type || !isDeepStrictEqual(earlier.payload, payload))
    return { outcome: 'key_taken', id };
  return { outcome: 'deduplicated', id, jobIds: earlier.deliveries.map(({ jobId }) => jobId) };
}

function isUniqueViolation(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === 'P2002';
}
