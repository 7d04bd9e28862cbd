/** Things that happened, to be told to whoever subscribed. */
import type { PrismaClient } from '@fencepost/db';
import { Hono } from 'hono';
import { z } from 'zod';
import { findEvent, listEvents } from '../find-events.ts';
import { eventType, jsonObject, page } from '../fields.ts';
import { nextPage } from '../pages.ts';
import { notFound, Problem } from '../problem.ts';
import { readBody, readQuery } from '../read-request.ts';
import { storeEvent } from '../store-event.ts';

const newEvent = z.strictObject({ type: eventType, payload: jsonObject });

export function eventRoutes(prisma: PrismaClient): Hono {
  const routes = new Hono();

  routes.post('/', async (c) => {
    const idempotencyKey = readKey(c.req.header('idempotency-key'));
    const event = await readBody(c, newEvent);
    const stored = await storeEvent(prisma, { ...event, idempotencyKey });
    c.header('location', `/api/events/${stored.id}`);
    switch (stored.outcome) {
      case 'created':
        return c.json(stored, 202);
      case 'deduplicated':
        return c.json(stored, 200);
      case 'key_taken':
        throw new Problem(
          409,
          'IDEMPOTENCY_KEY_TAKEN',
          `This Idempotency-Key made event ${stored.id}, from another body.`,
        );
    }
  });

  routes.get('/', async (c) => {
    const query = readQuery(c, z.strictObject(page));
    const events = await listEvents(prisma, query);
    return c.json({ events, next: nextPage(events, query.limit) });
  });

  routes.get('/:id', async (c) => {
    const id = c.req.param('id');
    const event = z.guid().safeParse(id).success ? await findEvent(prisma, id) : undefined;
    if (!event) throw notFound(`event ${id}`);
    return c.json(event);
  });

  return routes;
}

function readKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (/^[\x21-\x7e]{1,255}$/.test(header)) return header;
  const detail = 'Expected 1 to 255 printable ASCII characters without spaces';
  throw new Problem(400, 'INVALID_HEADER', 'The Idempotency-Key is not what this route takes.', {
    errors: [{ header: 'Idempotency-Key', detail }],
  });
}
