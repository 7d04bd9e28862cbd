/** Tells one event to one endpoint. */
import { defineJob } from '@fencepost/queue';
import { z } from 'zod';

export const webhookDelivery = defineJob({
  type: 'webhook.deliver',
  payload: z.object({ eventId: z.guid(), endpointId: z.guid() }),
  lease: '30s',
  // Above the handler's own limits for connecting and answering, which name the endpoint when they end a request.
  timeout: '30s',
  // From a second, doubling to six hours: a receiver may be down for a day and a half.
  maxAttempts: 20,
  retry: { base: '1s', max: '6h' },
});
