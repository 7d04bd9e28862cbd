/** Every fault that the tests have to notice, by what it is a fault of. */
import type { Fault } from '../fault.ts';
import { batchFaults } from './batch.ts';
import { claimFaults } from './claim.ts';
import { configFaults } from './config.ts';
import { contractFaults } from './contract.ts';
import { databaseFaults } from './database.ts';
import { drainFaults } from './drain.ts';
import { enqueueFaults } from './enqueue.ts';
import { fenceFaults } from './fence.ts';
import { headsFaults } from './heads.ts';
import { healthFaults } from './health.ts';
import { keepNothingFaults } from './keep-nothing.ts';
import { leaseFaults } from './lease.ts';
import { loopFaults } from './loop.ts';
import { operateFaults } from './operate.ts';
import { payloadFaults } from './payload.ts';
import { renewFaults } from './renew.ts';
import { runFaults } from './run.ts';
import { settleFaults } from './settle.ts';
import { sweepFaults } from './sweep.ts';
import { tableFaults } from './table.ts';
import { togetherFaults } from './together.ts';
import { webFaults } from './web.ts';

export const allFaults: readonly Fault[] = [
  ...claimFaults,
  ...fenceFaults,
  ...settleFaults,
  ...keepNothingFaults,
  ...renewFaults,
  ...sweepFaults,
  ...enqueueFaults,
  ...togetherFaults,
  ...payloadFaults,
  ...runFaults,
  ...batchFaults,
  ...loopFaults,
  ...headsFaults,
  ...leaseFaults,
  ...drainFaults,
  ...healthFaults,
  ...operateFaults,
  ...tableFaults,
  ...contractFaults,
  ...configFaults,
  ...webFaults,
  ...databaseFaults,
];
