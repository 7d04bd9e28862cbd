/** Puts faults into the copies, one at a time in each, and judges what the tests make of them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from './database.ts';
import { applyFault, type Fault } from './fault.ts';
import { judge, type Verdict } from './judge.ts';
import { runTests } from './run-tests.ts';
import { syntaxError } from './syntax.ts';

export interface Tried {
  readonly fault: Fault;
  readonly verdict: Verdict;
  readonly seconds: number;
}

/** Some ten times what the tests of one fault take: what is not over by then hangs. */
const FAULT_LIMIT_MS = 120_000;
const GREEN_LIMIT_MS = 600_000;

export interface Workplace {
  /** Copies of the repository. */
  readonly roots: readonly string[];
  readonly database: Database;
  readonly signal: AbortSignal;
}

/** Runs every test file that the faults name, with no fault in the source. What is wrong with them; nothing when they are green. */
export async function tryWithoutFault(
  { roots, database, signal }: Workplace,
  faults: readonly Fault[],
): Promise<string[]> {
  const files = [...new Set(faults.flatMap(({ tests }) => tests))].sort();
  const verdicts = await Promise.all(
    roots.map(async (root, index) => {
      const share = files.filter((_, number) => number % roots.length === index);
      if (share.length === 0) return undefined;
      const request = { root, files: share, bail: false, limitMs: GREEN_LIMIT_MS, migrates: false };
      return judge(await runTests(request, database, signal));
    }),
  );
  return verdicts.flatMap((verdict) => {
    if (verdict === undefined || verdict.verdict === 'survived') return [];
    return [verdict.verdict === 'killed' ? verdict.by : verdict.why];
  });
}

/** @param tried called with each as soon as it has been judged */
export async function tryFaults(
  { roots, database, signal }: Workplace,
  faults: readonly Fault[],
  tried: (result: Tried) => void,
): Promise<void> {
  const queue = [...faults];
  const working = roots.map(async (root) => {
    for (let fault = queue.shift(); fault; fault = queue.shift()) {
      const started = performance.now();
      const verdict = await tryFault(fault, root, database, signal);
      tried({ fault, verdict, seconds: (performance.now() - started) / 1000 });
    }
  });
  // A copy is not to be removed before its last fault has been taken out of it.
  await Promise.allSettled(working);
  await Promise.all(working);
}

async function tryFault(
  fault: Fault,
  root: string,
  database: Database,
  signal: AbortSignal,
): Promise<Verdict> {
  const file = join(root, fault.file);
  const text = await readFile(file, 'utf8');
  const faulty = applyFault(fault, text);
  const error = syntaxError(fault.file, faulty);
  if (error !== undefined) return { verdict: 'broken', why: error };
  await writeFile(file, faulty);
  try {
    const { tests: files, only } = fault;
    const migrates = fault.file.endsWith('.sql');
    const request = { root, files, only, bail: true, limitMs: FAULT_LIMIT_MS, migrates };
    return judge(await runTests(request, database, signal));
  } finally {
    await writeFile(file, text);
  }
}
