/** Events as they are shown: with their deliveries, and what has become of those. */
import type { PrismaClient } from '@fencepost/db';

/** The youngest events, each with the number of its deliveries and of those that came to their receiver. */
export async function listEvents(
  prisma: PrismaClient,
  { before, limit }: { readonly before?: string | undefined; readonly limit: number },
) {
  const events = await prisma.event.findMany({
    ...(before === undefined ? {} : { where: { id: { lt: before } } }),
    orderBy: { id: 'desc' },
    take: limit,
    select: { id: true, type: true, createdAt: true },
  });
  const counts = await prisma.delivery.groupBy({
    by: ['eventId'],
    where: { eventId: { in: events.map(({ id }) => id) } },
    _count: { _all: true, deliveredAt: true },
  });
  const byEvent = new Map(counts.map(({ eventId, _count }) => [eventId, _count]));
  return events.map((event) => {
    const count = byEvent.get(event.id);
    return { ...event, deliveries: count?._all ?? 0, delivered: count?.deliveredAt ?? 0 };
  });
}

/** One event with its deliveries and their jobs; a job is null once it has been cleaned up, or completed and not kept. */
export async function findEvent(prisma: PrismaClient, id: string) {
  const event = await prisma.event.findUnique({
    where: { id },
    include: { deliveries: { orderBy: { endpointId: 'asc' } } },
  });
  if (!event) return undefined;
  const jobs = await prisma.jobQueue.findMany({
    where: { id: { in: event.deliveries.map(({ jobId }) => jobId) } },
    select: { id: true, state: true, attempts: true, maxAttempts: true, runAt: true },
  });
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const { deliveries, idempotencyKey: _key, ...shown } = event;
  return {
    ...shown,
    deliveries: deliveries.map(({ eventId: _eventId, ...delivery }) => ({
      ...delivery,
      job: byId.get(delivery.jobId) ?? null,
    })),
  };
}
