/** Whether every fault can be applied: a list that is behind the source must not look like one that found nothing. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyFault, FaultListError, type Fault } from './fault.ts';

/** @throws FaultListError with a line for each fault that is wrong */
export async function checkList(faults: readonly Fault[], root: string): Promise<void> {
  const problems: string[] = [];
  const names = new Set<string>();
  for (const fault of faults) {
    if (names.has(fault.name)) problems.push(`${fault.name}: two faults have this name`);
    names.add(fault.name);
    problems.push(...(await problemsOf(fault, root)));
  }
  if (problems.length > 0) throw new FaultListError(problems.join('\n'));
}

async function problemsOf(fault: Fault, root: string): Promise<string[]> {
  const problems = fault.tests
    .filter((file) => !existsSync(join(root, file)))
    .map((file) => `${fault.name}: there is no test file ${file}`);
  const text = await readFile(join(root, fault.file), 'utf8').catch(() => undefined);
  if (text === undefined) return [...problems, `${fault.name}: there is no file ${fault.file}`];
  try {
    applyFault(fault, text);
    return problems;
  } catch (error) {
    if (!(error instanceof FaultListError)) throw error;
    return [...problems, error.message];
  }
}
