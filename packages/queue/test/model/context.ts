/** The context of a run without the run, for tests that make its calls themselves. */
import type { QueueClient } from '../../src/client.ts';
import type { FencedWrite } from '../../src/fenced-write.ts';
import { makeContext, type RunContext } from '../../src/make-context.ts';
import type { ClaimedJob } from '../../src/store/claim.ts';

export function contextOf(
  client: QueueClient,
  claim: ClaimedJob,
): { context: RunContext; fenced: readonly FencedWrite[] } {
  const fenced: FencedWrite[] = [];
  const silent = () => {};
  const logger = { debug: silent, info: silent, warn: silent, error: silent, child: () => logger };
  const environment = {
    client,
    logger,
    timers: { after: () => silent },
    draining: new AbortController().signal,
    onFenced: (write: FencedWrite) => void fenced.push(write),
  };
  return { context: makeContext(claim, environment, new AbortController().signal, silent), fenced };
}
