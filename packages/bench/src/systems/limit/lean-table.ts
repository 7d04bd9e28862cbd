/**
 * The limit on the leanest table that could do it: a bigint key, no type, no priority, no history, one index, which is
 * partial and holds only what waits; claim with token and lease, and completion matched pair by pair, all the same.
 */
import { createAppTable, execute } from '../app-row.ts';
import type { System } from '../system.ts';
import { CLAIM_ON_LEAN_TABLE } from './lean-claim.ts';
import { INSERT_INTO_LEAN_TABLE } from './lean-insert.ts';
import { SETTLE_ON_LEAN_TABLE } from './lean-settle.ts';
import { DROP_LEAN_WAKE_UPS, LEAN_TABLE } from './lean-schema.ts';
import { openLimitWorker, type Statements } from './loop.ts';
import { openLimitProducer } from './producer.ts';

const statements: Statements = {
  channel: 'lean_job',
  beginning: ['0'],
  claim: CLAIM_ON_LEAN_TABLE,
  settle: SETTLE_ON_LEAN_TABLE,
};

const DRAINED = `
  SELECT
    NOT EXISTS (SELECT FROM lean_job WHERE state = 0)
    AND NOT EXISTS (SELECT FROM lean_job WHERE state = 1) AS drained`;

export function limitOnLeanTable(point: string): System {
  return {
    async install(url) {
      await createAppTable(url);
      await execute(url, LEAN_TABLE);
    },
    withoutWakeUps: (url) => execute(url, DROP_LEAN_WAKE_UPS),
    openProducer: async (url) =>
      openLimitProducer(url, {
        isDrained: DRAINED,
        async insert(client, payloads) {
          const values = [payloads.map((payload) => JSON.stringify(payload))];
          await client.query({ ...INSERT_INTO_LEAN_TABLE, values });
        },
      }),
    openWorker: (url, settings) => openLimitWorker(url, settings, point, statements),
  };
}
