/** Enqueues that share a statement: none fails another, and none waits for another longer than it has to. */
import type { Fault } from '../fault.ts';

const together = 'packages/queue/src/insert-together.ts';
const togetherTest = ['packages/queue/test/enqueue-together.test.ts'];

export const togetherFaults: readonly Fault[] = [
  {
    name: 'together/one-at-a-time',
    breaks: 'enqueues at once share a statement',
    file: together,
    replace: `    await Promise.resolve();\n    while (this.#gathered`,
    by: `    while (this.#gathered`,
    tests: togetherTest,
    only: 'twenty at once',
  },
  {
    name: 'together/one-fails-all',
    breaks: 'one bad row fails none of its neighbours',
    file: together,
    replace: 'gathered.length > 1 && (isAboutRows',
    by: 'gathered.length > 999 && (isAboutRows',
    tests: togetherTest,
    only: 'fails none',
  },
  {
    name: 'together/said-to-be-created',
    breaks: 'what the database left out is not said to be created',
    file: together,
    replace: 'resolve(inserted.has(job.id))',
    by: 'resolve(inserted.size > 0)',
    tests: togetherTest,
    only: 'leaves out',
  },
  {
    name: 'together/keys-hold-up-others',
    breaks: 'a job with a dedupe key holds up no other',
    file: together,
    replace: 'isPlain && job.dedupeKey === null',
    by: 'isPlain',
    tests: togetherTest,
    only: 'dedupe key',
  },
  {
    name: 'together/contexts-mixed',
    breaks: 'through a client with extensions each job goes alone',
    file: together,
    replace: `$disconnect === 'function' && _extensions?.isEmpty?.() === true`,
    by: `$disconnect === 'function' && _extensions !== undefined`,
    tests: togetherTest,
    only: 'extensions',
  },
  {
    name: 'together/two-that-hang-stop-all',
    breaks: 'statements that hang do not keep others from being sent',
    file: together,
    replace: 'const PATIENCE_MS = 5_000;',
    by: 'const PATIENCE_MS = 5_000_000;',
    tests: togetherTest,
    only: 'hang',
  },
  {
    name: 'together/types-mixed',
    breaks: 'jobs of other limits have a statement of their own',
    file: together,
    replace: '`${maxAttempts} ${maxCrashes} ${type}`',
    by: '`${type}`',
    tests: togetherTest,
    only: 'other limits',
  },
];
