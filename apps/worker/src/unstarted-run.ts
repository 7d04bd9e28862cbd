/** The run of a job whose claim committed after the drain had begun: it never starts, and is handed back as any other. */
import type { ClaimedJob, Run } from '@fencepost/queue/protocol';

export function unstartedRun(job: ClaimedJob): Run {
  return {
    job,
    signal: new AbortController().signal,
    outcome: Promise.resolve({ outcome: 'released' }),
    returned: Promise.resolve(),
    completing: () => false,
    stop: () => {},
    release: () => {},
  };
}
