/** Receivers of webhooks. A secret goes in and never comes out. */
import type { PrismaClient } from '@fencepost/db';
import { isPublicHost, signatureKey } from '@fencepost/jobs';
import { Hono } from 'hono';
import { z } from 'zod';
import { eventType, page, text } from '../fields.ts';
import { nextPage } from '../pages.ts';
import { readBody, readQuery } from '../read-request.ts';

export interface EndpointRouteSettings {
  readonly prisma: PrismaClient;
  /** Takes private and loopback addresses as well. */
  readonly allowPrivate: boolean;
}

export function endpointRoutes({ prisma, allowPrivate }: EndpointRouteSettings): Hono {
  const routes = new Hono();
  const newEndpoint = z.strictObject({
    url: receiverUrl(allowPrivate),
    secret: text.refine(
      (secret) => signatureKey(secret) !== undefined,
      'Expected 16 to 128 characters, or "whsec_" and the base64 of 24 to 64 bytes',
    ),
    eventTypes: z.array(eventType).min(1).max(100),
  });

  routes.post('/', async (c) => {
    const { eventTypes, ...rest } = await readBody(c, newEndpoint);
    const endpoint = await prisma.endpoint.create({
      data: { ...rest, eventTypes: [...new Set(eventTypes)] },
      select: SHOWN,
    });
    return c.json(endpoint, 201);
  });

  routes.get('/', async (c) => {
    const { before, limit } = readQuery(c, z.strictObject(page));
    const endpoints = await prisma.endpoint.findMany({
      ...(before === undefined ? {} : { where: { id: { lt: before } } }),
      orderBy: { id: 'desc' },
      take: limit,
      select: SHOWN,
    });
    return c.json({ endpoints, next: nextPage(endpoints, limit) });
  });

  return routes;
}

const SHOWN = { id: true, url: true, eventTypes: true, createdAt: true } as const;

/** Addresses are refused here, where somebody is told; the worker checks again what a name has become by then. */
function receiverUrl(allowPrivate: boolean) {
  return text.max(2_048).transform((value, ctx) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const fault = !url
      ? 'Expected a URL such as https://example.com/webhooks'
      : url.protocol !== 'https:' && url.protocol !== 'http:'
        ? `Expected the protocol http: or https:, found ${url.protocol}`
        : url.username !== '' || url.password !== ''
          ? 'Expected a URL without user name and password'
          : !allowPrivate && !isPublicHost(url.hostname)
            ? `Expected a public address, found ${url.hostname}`
            : undefined;
    if (url && fault === undefined) return url.href;
    ctx.addIssue({ code: 'custom', message: fault ?? '' });
    return z.NEVER;
  });
}
