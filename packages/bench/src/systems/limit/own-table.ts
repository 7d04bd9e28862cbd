/**
 * The limit on Fencepost's own table, as it is migrated: the same columns written, the same indexes and constraints
 * kept, by hand on `pg` with prepared statements.
 */
import { execute } from '../app-row.ts';
import type { System } from '../system.ts';
import { openLimitWorker, type Statements } from './loop.ts';
import { CLAIM_ON_OWN_TABLE } from './own-claim.ts';
import { INSERT_INTO_OWN_TABLE } from './own-insert.ts';
import { SETTLE_ON_OWN_TABLE } from './own-settle.ts';
import { openLimitProducer } from './producer.ts';
import { uuidV7 } from './uuid-v7.ts';

const statements: Statements = {
  channel: 'job_queue',
  beginning: ['-infinity', '00000000-0000-0000-0000-000000000000'],
  claim: CLAIM_ON_OWN_TABLE,
  settle: SETTLE_ON_OWN_TABLE,
};

const DRAINED = `
  SELECT
    NOT EXISTS (SELECT FROM job_queue WHERE state = 'pending')
    AND NOT EXISTS (SELECT FROM job_queue WHERE state = 'running') AS drained`;

export function limitOnOwnTable(point: string): System {
  return {
    async install(url) {
      const { migrateDeploy } = await import('@fencepost/testing');
      await migrateDeploy(url);
    },
    withoutWakeUps: (url) => execute(url, 'ALTER TABLE job_queue DISABLE TRIGGER job_queue_inserted'),
    openProducer: async (url) =>
      openLimitProducer(url, {
        isDrained: DRAINED,
        async insert(client, payloads) {
          const ids = payloads.map(() => uuidV7());
          const values = [ids, payloads.map((payload) => JSON.stringify(payload))];
          await client.query({ ...INSERT_INTO_OWN_TABLE, values });
        },
      }),
    openWorker: (url, settings) => openLimitWorker(url, settings, point, statements),
  };
}
