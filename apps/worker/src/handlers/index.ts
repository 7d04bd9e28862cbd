/** The example app's handlers: everything this worker can do. */
import type { PrismaClient } from '@fencepost/db';
import type { JobHandler } from '@fencepost/queue';
import { deliverWebhook } from './deliver-webhook.ts';
import { reportDeliveries } from './report-deliveries.ts';
import { createWebhookAgent } from './webhook-agent.ts';

export interface HandlerSettings {
  readonly prisma: PrismaClient;
  readonly config: {
    /** Whether webhooks may go to private and loopback addresses. */
    readonly allowPrivateWebhooks: boolean;
  };
}

export function createHandlers({ prisma, config }: HandlerSettings): readonly JobHandler[] {
  const agent = createWebhookAgent({ allowPrivate: config.allowPrivateWebhooks });
  return [deliverWebhook({ prisma, agent }), reportDeliveries({ prisma })];
}
