/** Claims behind the dead entries that a held snapshot keeps, and the warning that names who holds it. */
import type { Fault } from '../fault.ts';

const heads = 'packages/queue/src/core/heads.ts';
const queueHeads = 'apps/worker/src/queue-heads.ts';
const schedule = 'apps/worker/src/survey-schedule.ts';
const vacuum = 'apps/worker/src/vacuum-watch.ts';
const headsTest = ['packages/queue/test/core/heads.test.ts'];
const snapshotTest = ['apps/worker/test/held-snapshot.test.ts'];
const backlogTest = ['apps/worker/test/backlog.test.ts'];
const scheduleTest = ['apps/worker/test/survey-schedule.test.ts'];
const vacuumTest = ['apps/worker/test/vacuum-watch.test.ts'];

export const headsFaults: readonly Fault[] = [
  {
    name: 'heads/better-levels-stay',
    breaks: 'the better levels were looked through to their end',
    file: heads,
    replace: 'if (priority < last.priority) return latest;',
    by: 'if (priority < last.priority) return head;',
    tests: headsTest,
  },
  {
    name: 'heads/no-slack',
    breaks: 'a head is never at what may still be becoming visible',
    file: heads,
    replace: 'return Date.parse(claimedAt) - HEAD_SLACK_MS;',
    by: 'return Date.parse(claimedAt);',
    tests: headsTest,
  },
  {
    name: 'heads/first-claim-unsurveyed',
    breaks: 'the first claim waits for a survey',
    file: queueHeads,
    replace: 'if (this.#mustSurvey) await this.#survey();',
    by: '',
    tests: snapshotTest,
    only: 'surveys before its first claim',
  },
  {
    name: 'heads/straggler-unseen',
    breaks: 'a survey replaces the heads that were known',
    file: queueHeads,
    replace: 'this.#heads = found.heads;',
    by: '',
    tests: snapshotTest,
  },
  {
    name: 'heads/for-ever',
    breaks: 'claims start at the beginning once nothing is held back',
    file: schedule,
    replace: 'this.#fromHeads = tookMs > 3 * this.#cheapestMs;',
    by: '',
    tests: scheduleTest,
    only: 'ends every survey',
  },
  {
    name: 'heads/first-look-dear',
    breaks: 'a long survey before any claim is enough to start at the heads',
    file: schedule,
    replace: 'else if (deadMs > DEAR_MS) this.#fromHeads = true;',
    by: '',
    tests: scheduleTest,
    only: 'from the first one on',
  },
  {
    name: 'heads/backlog-begins-anew',
    breaks: 'in a backlog a claim goes on where the last one ended',
    file: queueHeads,
    replace: 'this.#isBacklog = jobs.length === capacity;',
    by: '',
    tests: backlogTest,
    only: 'goes on where it ended',
  },
  {
    name: 'heads/backlog-never-looks-back',
    breaks: 'in a backlog one claim a second looks from the beginning',
    file: queueHeads,
    replace: 'const goesOn = this.#isBacklog && decidedAt - this.#lookedBackAt < LOOK_BACK_MS;',
    by: 'const goesOn = this.#isBacklog;',
    tests: backlogTest,
    only: 'a second later',
  },
  {
    name: 'heads/survey-forgotten',
    breaks: 'what a survey has found is not forgotten for a claim that was asked for before',
    file: queueHeads,
    replace: 'const isKnown = looksBack ? start.surveys === this.#surveys : start.from === this.#heads;',
    by: 'const isKnown = looksBack || start.from === this.#heads;',
    tests: backlogTest,
    only: 'is not forgotten',
  },
  {
    name: 'heads/failed-look-repeated',
    breaks: 'after a look from the beginning that took too long a survey comes first',
    file: queueHeads,
    replace: 'if (from !== undefined || tookMs < HELD_UP_MS) return;',
    by: 'return;',
    tests: backlogTest,
    only: 'took too long',
  },
  {
    name: 'heads/probe-told-by-any-claim',
    breaks: 'a probe is ended by a look from the beginning and by no other claim',
    file: schedule,
    replace: 'if (this.#isProbe && looksBack) {',
    by: 'if (this.#isProbe) {',
    tests: scheduleTest,
    only: 'and no other',
  },
  {
    name: 'heads/clean-claims-for-dear-ones',
    breaks: 'whether claims from the beginning are dear is told by those alone',
    file: schedule,
    replace: 'if (looksBack || this.#fromHeads) this.#claimMs',
    by: 'this.#claimMs',
    tests: scheduleTest,
    only: 'not because of what claims cost that went on',
  },
  {
    name: 'heads/plan-of-an-empty-table',
    breaks: 'a plan that is kept reads the table by an index',
    file: 'db/src/pool.ts',
    replace: "set_config('enable_seqscan', 'off', false),",
    by: '',
    tests: ['packages/queue/test/empty-plans.test.ts'],
  },
  {
    name: 'heads/estimate-without-a-limit',
    breaks: 'the server does not compile a claim for what it takes to be a tenth of the table',
    file: 'packages/queue/src/store/claim.ts',
    replace: `      LIMIT 1000
    ),`,
    by: '    ),',
    tests: ['packages/queue/test/explain.test.ts'],
    only: 'is not compiled',
  },
  {
    name: 'heads/long-wait',
    breaks: 'no job before the heads waits longer than half a minute for a survey',
    file: schedule,
    replace: 'Math.min(TIME_SHARE * this.#surveyMs, LONGEST_WAIT_MS)',
    by: 'TIME_SHARE * this.#surveyMs',
    tests: scheduleTest,
    only: 'one that fails',
  },
  {
    name: 'heads/late-claim-committed',
    breaks: 'a claim that nobody waits for any longer takes nothing',
    file: 'packages/queue/src/store/claim.ts',
    replace: "AND clock_timestamp() < now() + interval '8 seconds'",
    by: '',
    tests: ['packages/queue/test/late-claim.test.ts'],
  },
  {
    name: 'heads/vacuum-untold',
    breaks: 'what holds back vacuum is named',
    file: vacuum,
    replace: 'if (holder !== undefined && heldMs >= TELL_AFTER_MS) this.#tell(holder, heldMs);',
    by: 'if (false) this.#tell(holder!, heldMs);',
    tests: vacuumTest,
  },
  {
    name: 'heads/read-only-session-kept',
    breaks: 'a session that met a read-only server is replaced',
    file: 'db/src/pooled-client.ts',
    replace: "new Set(['25006', '57014'])",
    by: "new Set(['57014'])",
    tests: ['db/test/stale-session.test.ts'],
  },
  {
    name: 'heads/unknown-option',
    breaks: 'a misspelled option is refused',
    file: 'packages/queue/src/check-arguments.ts',
    replace: 'if (unknown === undefined) return read as Options;',
    by: 'return read as Options;',
    tests: ['packages/queue/test/enqueue.test.ts', 'packages/queue/test/define-job.test.ts'],
  },
];
