/** Writes a CSV of all deliveries made before the report was asked for. */
import { defineJob } from '@fencepost/queue';
import { z } from 'zod';

export const deliveryReport = defineJob({
  type: 'report.deliveries',
  payload: z.object({ reportId: z.guid() }),
  lease: '30s',
  // For the whole table; what a run that is ended has written stays, and the next one goes on from there.
  timeout: '1h',
  maxAttempts: 5,
  retry: { base: '5s', max: '10m' },
});
