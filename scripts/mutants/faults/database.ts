/** The client factory: every session in UTC, statements prepared by name, except behind a pooler. */
import type { Fault } from '../fault.ts';

const session = 'db/engine/session.mjs';
const clientTest = ['db/test/client.test.ts'];

export const databaseFaults: readonly Fault[] = [
  {
    name: 'database/time-zone-of-the-role',
    breaks: 'every session is in UTC',
    file: session,
    replace: `TimeZone: 'UTC', `,
    by: '',
    tests: clientTest,
    only: 'is not shifted',
  },
  {
    name: 'database/date-style-of-the-role',
    breaks: 'every session spells dates in ISO style',
    file: session,
    replace: `, DateStyle: 'ISO, MDY'`,
    by: '',
    tests: clientTest,
    only: 'is not shifted',
  },
  {
    name: 'database/time-zone-unchecked',
    breaks: 'a session that is not in UTC is refused',
    file: session,
    replace: 'throw new SessionTimeZoneError(this.#timeZone)',
    by: '{}',
    tests: clientTest,
    only: 'is refused in a session',
  },
  {
    name: 'database/prepared-behind-a-pooler',
    breaks: 'no statement is prepared behind a pooler',
    file: 'db/src/pool.ts',
    replace: 'target.behindPooler ? 0 : ',
    by: '',
    tests: clientTest,
    only: 'not prepared behind',
  },
  {
    name: 'database/never-prepared',
    breaks: 'statements are prepared by name',
    file: 'db/src/statement-names.ts',
    replace: 'if (names.size >= limit)',
    by: 'if (names.size <= limit)',
    tests: clientTest,
    only: 'are prepared by name',
  },
  {
    name: 'database/names-without-end',
    breaks: 'a session keeps only so many statements',
    file: 'db/src/statement-names.ts',
    replace: 'if (names.size >= limit)',
    by: 'if (names.size < 0)',
    tests: ['db/test/statement-names.test.ts'],
    only: 'no more names',
  },
];
