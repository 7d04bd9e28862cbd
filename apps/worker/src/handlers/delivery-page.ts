/** The deliveries of a report, page by page in the order of their ids, and what the CSV says of each. */
import type { PrismaClient } from '@fencepost/db';
import { csvLine } from './csv.ts';

/** Rows of one page, and so of one chunk: some 150 KB, which is as much as a run holds at a time. */
const PAGE_ROWS = 500;

export interface DeliveryPage {
  readonly csv: string;
  readonly rows: number;
  /** The id of its last row; null on an empty page, which is the end. */
  readonly last: string | null;
}

export const HEADER = csvLine([
  'delivery_id',
  'event_id',
  'event_type',
  'endpoint_id',
  'endpoint_url',
  'job_id',
  'status',
  'duration_ms',
  'delivered_at',
  'created_at',
]);

/**
 * @param until deliveries made later belong to the next report: otherwise one that is written while deliveries keep
 *   coming would never end
 * @param after the id after which the page begins
 */
export async function readDeliveryPage(
  prisma: PrismaClient,
  { until, after }: { readonly until: Date; readonly after: string | null },
): Promise<DeliveryPage> {
  const deliveries = await prisma.delivery.findMany({
    where: { createdAt: { lte: until }, ...(after === null ? {} : { id: { gt: after } }) },
    orderBy: { id: 'asc' },
    take: PAGE_ROWS,
    include: { event: { select: { type: true } }, endpoint: { select: { url: true } } },
  });
  const lines = deliveries.map((row) =>
    csvLine([
      row.id,
      row.eventId,
      row.event.type,
      row.endpointId,
      row.endpoint.url,
      row.jobId,
      row.status,
      row.durationMs,
      row.deliveredAt,
      row.createdAt,
    ]),
  );
  return { csv: lines.join(''), rows: lines.length, last: deliveries.at(-1)?.id ?? null };
}
