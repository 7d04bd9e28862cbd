/** The context of a run without the run, for tests that make its calls themselves. */
import type { QueueClient } from '../../src/client.ts';
import { Deadlines } from '../../src/deadlines.ts';
import type { FencedWrite } from '../../src/fenced-write.ts';
import { RunContext } from '../../src/run-context.ts';
import { StopSignal } from '../../src/stop-signal.ts';
import type { ClaimedJob } from '../../src/store/claimed-jobs.ts';

export function contextOf(
  client: QueueClient,
  claim: ClaimedJob,
  { keepCompleted } = { keepCompleted: true },
): { context: RunContext; fenced: readonly FencedWrite[] } {
  const fenced: FencedWrite[] = [];
  const silent = () => {};
  const logger = { debug: silent, info: silent, warn: silent, error: silent, child: () => logger };
  const timers = { now: () => 0, after: () => silent };
  const environment = {
    client,
    logger,
    timers,
    deadlines: new Deadlines(timers),
    draining: new AbortController().signal,
    keepCompleted,
    onFenced: (write: FencedWrite) => void fenced.push(write),
  };
  return { context: new RunContext(claim, environment, new StopSignal(timers)), fenced };
}
