/** Each default of the environment, how settings are told, and how a process ends. */
import type { Fault } from '../fault.ts';

const worker = 'apps/worker/src/config.ts';
const web = 'apps/web/src/config.ts';
const settings = 'packages/service/src/settings.ts';
const workerTest = 'apps/worker/test/config.test.ts';
const webTest = 'apps/web/test/config.test.ts';
const bothTests = [workerTest, webTest];

export const configFaults: readonly Fault[] = [
  defaultOf('CONCURRENCY', worker, [workerTest], 'byDefault: 10 }', 'byDefault: 11 }'),
  defaultOf('POLL_INTERVAL', worker, [workerTest], `byDefault: '5s'`, `byDefault: '6s'`),
  defaultOf('SWEEP_INTERVAL', worker, [workerTest], `byDefault: '10s'`, `byDefault: '11s'`),
  defaultOf('DRAIN_TIMEOUT', worker, [workerTest], `byDefault: '50s'`, `byDefault: '51s'`),
  defaultOf('RETENTION', worker, [workerTest], `byDefault: '7d'`, `byDefault: '8d'`),
  defaultOf('KEEP_COMPLETED', worker, [workerTest], 'byDefault: true', 'byDefault: false'),
  defaultOf('HEALTH_PORT', worker, [workerTest], 'port(8081)', 'port(8082)'),
  defaultOf('FLY_MACHINE_ID', worker, [workerTest], '?? hostname()', `?? 'worker'`),
  defaultOf('PORT', web, [webTest], 'port(3000)', 'port(3001)'),
  defaultOf('NODE_ENV', web, [webTest], `'test'], 'development'`, `'test'], 'production'`),
  defaultOf('HOST in production', web, [webTest], `'0.0.0.0' :`, `'127.0.0.1' :`),
  defaultOf('HOST elsewhere', web, [webTest], `: '127.0.0.1'`, `: '0.0.0.0'`),
  defaultOf('LOG_LEVEL', settings, bothTests, `'silent'], 'info'`, `'silent'], 'debug'`),
  defaultOf('ALLOW_PRIVATE_WEBHOOKS', settings, bothTests, '{ byDefault: false }', '{ byDefault: true }'),
  {
    name: 'config/no-token-in-production',
    breaks: 'production does not start without a token',
    file: web,
    replace: `settings.NODE_ENV !== 'production' || `,
    by: `settings.NODE_ENV !== 'test' || `,
    tests: [webTest],
    only: 'in production',
  },
  {
    name: 'config/poll-of-an-hour',
    breaks: 'a poll is never longer than the trigger’s minute',
    file: worker,
    replace: `max: '60s'`,
    by: `max: '1h'`,
    tests: [workerTest],
  },
  {
    name: 'config/drain-longer-than-fly-waits',
    breaks: 'a drain ends before its machine is killed',
    file: worker,
    replace: `max: '290s'`,
    by: `max: '600s'`,
    tests: [workerTest],
  },
  {
    name: 'config/secret-shown',
    breaks: 'nothing of a secret is shown',
    file: 'packages/service/src/read-config.ts',
    replace: 'if (secret)',
    by: 'if (secret && url)',
    tests: ['packages/service/test/read-config.test.ts'],
    only: 'nothing of a secret',
  },
  {
    name: 'config/password-shown',
    breaks: 'a URL is shown without its password',
    file: 'packages/service/src/read-config.ts',
    replace: 'url ? redactUrl(text) : text',
    by: 'text',
    tests: ['packages/service/test/read-config.test.ts'],
  },
  {
    name: 'config/first-problem-alone',
    breaks: 'every problem is told at once',
    file: 'packages/service/src/read-config.ts',
    replace: '[...expected].map(',
    by: '[...expected].slice(0, 1).map(',
    tests: ['packages/service/test/read-config.test.ts'],
    only: 'told at once',
  },
  {
    name: 'end/rejection-not-fatal',
    breaks: 'an unhandled rejection ends the process with 1',
    file: 'packages/service/src/end-on.ts',
    replace: `'unhandled rejection');\n    end(1);`,
    by: `'unhandled rejection');\n    end(0);`,
    tests: ['packages/service/test/end-on.test.ts'],
    only: 'unhandledRejection',
  },
  {
    name: 'end/stops-twice',
    breaks: 'a second signal stops nothing twice',
    file: 'packages/service/src/end-on.ts',
    replace: 'if (stopping) return;',
    by: '',
    tests: ['packages/service/test/end-on.test.ts'],
    only: 'a second signal',
  },
  {
    name: 'end/never-hurries',
    breaks: 'a second signal ends the wait',
    file: 'packages/service/src/end-on.ts',
    replace: 'if (stopping) hurry();',
    by: '',
    tests: ['packages/service/test/end-on.test.ts'],
    only: 'a second signal',
  },
  {
    name: 'end/code-forgotten',
    breaks: 'no signal makes a failure a success',
    file: 'packages/service/src/end-on.ts',
    replace: 'exitCode ||= code;',
    by: 'exitCode = code;',
    tests: ['packages/service/test/end-on.test.ts'],
    only: 'its code',
  },
  {
    name: 'log/last-line-lost',
    breaks: 'what is said last, before an exit, is said',
    file: 'packages/service/src/logger.ts',
    replace: 'pino.destination({ dest: 1, sync: true })',
    by: 'pino.destination({ dest: 1, sync: false })',
    tests: ['packages/service/test/logger.process.test.ts'],
  },
  {
    name: 'config/problem-on-two-lines',
    breaks: 'each setting that is wrong is told on one line',
    file: 'packages/service/src/read-config.ts',
    replace: `.replaceAll('\\u2028', '\\\\u2028')`,
    by: '',
    tests: ['packages/service/test/read-config.test.ts'],
    only: 'on one line',
  },
];

function defaultOf(
  setting: string,
  file: string,
  tests: readonly string[],
  replace: string,
  by: string,
): Fault {
  return {
    name: `config/default-${setting.replaceAll(' ', '-')}`,
    breaks: `the default of ${setting} is the documented one`,
    file,
    replace,
    by,
    tests,
  };
}
