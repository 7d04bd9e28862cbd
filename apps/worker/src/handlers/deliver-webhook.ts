/**
 * Tells an event to an endpoint. The receiver hears of it at least once, and can tell a repetition by the idempotency
 * key; that it was delivered is written exactly once, in the transaction that completes the job.
 */
import type { PrismaClient } from '@fencepost/db';
import { signatureKey, webhookDelivery } from '@fencepost/jobs';
import { DiscardError, handle } from '@fencepost/queue';
import type { Agent } from 'undici';
import { DeliveryFailedError } from './errors.ts';
import { postWebhook } from './post-webhook.ts';
import { transactionTime } from './store/transaction-time.ts';
import { webhookMessage } from './webhook-message.ts';

const GONE = 410;

export function deliverWebhook({ prisma, agent }: { readonly prisma: PrismaClient; readonly agent: Agent }) {
  return handle(webhookDelivery, async ({ eventId, endpointId }, ctx) => {
    const delivery = await prisma.delivery.findUnique({
      where: { eventId_endpointId: { eventId, endpointId } },
      include: { event: true, endpoint: true },
    });
    if (!delivery) throw new DiscardError(`no delivery of event ${eventId} to endpoint ${endpointId}`);
    const { event, endpoint } = delivery;
    const key = signatureKey(endpoint.secret);
    if (!key) throw new DeliveryFailedError(`the secret of endpoint ${endpointId} makes no key`);

    // Signed with the database's time: a worker's wrong clock would make every signature of its own stale.
    const { id: jobId, claimedAt: at } = ctx.job;
    const message = webhookMessage(event, { key, at, jobId, fence: ctx.fence });
    const answer = await postWebhook(agent, endpoint.url, message, ctx.signal);

    if (answer.status >= 200 && answer.status < 300) {
      await prisma.$transaction(async (tx) => {
        await ctx.complete(tx, answer);
        const deliveredAt = await transactionTime(tx);
        await tx.delivery.update({ where: { id: delivery.id }, data: { ...answer, deliveredAt } });
      });
      return;
    }
    if (answer.status === GONE) {
      await prisma.$transaction(async (tx) => {
        await ctx.assertClaim(tx);
        await tx.delivery.update({ where: { id: delivery.id }, data: { ...answer, deliveredAt: null } });
      });
      throw new DiscardError(`endpoint ${endpointId} answered 410: it wants no more of these`);
    }
    throw new DeliveryFailedError(`endpoint ${endpointId} answered ${answer.status}, expected 2xx`);
  });
}
