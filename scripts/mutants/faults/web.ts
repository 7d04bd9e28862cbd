/** The web app, where a rule of the protocol lives in it. */
import type { Fault } from '../fault.ts';

const jobs = 'apps/web/src/routes/jobs.ts';
const storeEvent = 'apps/web/src/store-event.ts';
const jobsTest = ['apps/web/test/jobs.test.ts'];
const eventsTest = ['apps/web/test/events.test.ts'];

export const webFaults: readonly Fault[] = [
  {
    name: 'web/cancel-does-not-ask-again',
    breaks: 'a row that is locked for a moment is waited for',
    file: jobs,
    replace: 'untilFree(() => cancel(prisma, id))',
    by: 'cancel(prisma, id)',
    tests: jobsTest,
    only: 'cancel a row that somebody holds for a moment',
  },
  {
    name: 'web/retry-does-not-ask-again',
    breaks: 'a row that is locked for a moment is waited for',
    file: jobs,
    replace: 'untilFree(() => retry(prisma, id))',
    by: 'retry(prisma, id)',
    tests: jobsTest,
    only: 'retry a row that somebody holds for a moment',
  },
  {
    name: 'web/asks-for-ever',
    breaks: 'a row that is locked for long is not waited for',
    file: 'apps/web/src/until-free.ts',
    replace: 'const PAUSES_MS = [10, 20, 40, 80, 150];',
    by: 'const PAUSES_MS = Array.from({ length: 1_000 }, () => 10);',
    tests: ['apps/web/test/until-free.test.ts'],
  },
  {
    name: 'web/report-outside-its-transaction',
    breaks: 'a report and its job are committed together',
    file: 'apps/web/src/routes/reports.ts',
    replace: 'enqueue(tx, deliveryReport',
    by: 'enqueue(prisma, deliveryReport',
    tests: ['apps/web/test/reports.test.ts'],
    only: 'leaves no job',
  },
  {
    name: 'web/key-not-recognised',
    breaks: 'a key that is sent twice makes one event',
    file: storeEvent,
    replace: 'if (earlier) return earlier;',
    by: '',
    tests: eventsTest,
    only: 'sent twice makes one event',
  },
  {
    name: 'web/key-of-another-event',
    breaks: 'a key of another event is refused',
    file: storeEvent,
    replace: 'if (earlier.type !== event.type || ',
    by: 'if (earlier.type !== event.type && ',
    tests: eventsTest,
    only: 'with another',
  },
  {
    name: 'web/token-not-asked-for',
    breaks: 'the API asks for its token',
    file: 'apps/web/src/auth.ts',
    replace: '!timingSafeEqual(digest(given), expected)',
    by: 'timingSafeEqual(digest(given), expected)',
    tests: ['apps/web/test/app.test.ts'],
    only: 'is not it|is it',
  },
  {
    name: 'web/busy-as-a-failure',
    breaks: 'a database that is away is told as such',
    file: 'apps/web/src/error-to-problem.ts',
    replace: 'if (isDatabaseTrouble(error))',
    by: 'if (isDatabaseTrouble(undefined))',
    tests: ['apps/web/test/app.test.ts'],
    only: 'without a database',
  },
  {
    name: 'web/list-tells-payloads',
    breaks: 'a list shows nothing that can be long',
    file: jobs,
    replace: '{ payload: _payload, result',
    by: '{ result',
    tests: jobsTest,
    only: 'lists by state',
  },
];
