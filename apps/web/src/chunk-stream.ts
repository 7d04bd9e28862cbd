/** A report's chunks as one body: one of them in memory at a time, and read no faster than they are sent. */
import type { PrismaClient } from '@fencepost/db';

/** A chunk that has gone meanwhile breaks the answer off, so that nobody takes a part for the whole. */
export function chunkStream(
  prisma: PrismaClient,
  reportId: string,
  chunks: number,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let index = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (index === chunks) {
          controller.close();
          return;
        }
        const chunk = await prisma.reportChunk.findUniqueOrThrow({
          where: { reportId_index: { reportId, index } },
        });
        index += 1;
        controller.enqueue(encoder.encode(chunk.content));
      },
    },
    { highWaterMark: 0 },
  );
}
