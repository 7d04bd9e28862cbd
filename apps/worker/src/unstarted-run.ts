/** The run of a job whose claim committed after the drain had begun: it never starts, and is handed back as any other. */
import type { ClaimedJob, Run } from '@fencepost/queue/protocol';

const NEVER_ABORTED = new AbortController().signal;

export function unstartedRun(job: ClaimedJob): Run {
  return {
    job,
    signal: NEVER_ABORTED,
    outcome: Promise.resolve({ outcome: 'released' }),
    returned: Promise.resolve(),
    completing: () => false,
    stop: () => {},
    release: () => {},
  };
}
