/** No fenced write passes silently: it is logged with what was lost, counted, and its run is told to stop. */
import { describeLost } from './describe-lost.ts';
import type { FencedWrite } from '@fencepost/queue/protocol';
import type { Logger } from '@fencepost/queue';
import type { Metrics } from './metrics.ts';

export type ReportFenced = (write: FencedWrite) => void;

export function createFencedReport(logger: Logger, metrics: Metrics): ReportFenced {
  return ({ op, job, lost }) => {
    metrics.fenced.inc({ op });
    const { id, type, claimToken } = job;
    logger.warn(
      { op, id, type, claimToken, lost: describeLost(lost) },
      'fenced write: this claim no longer owns the row',
    );
  };
}
