/** Keeps what every process said, for whoever has to find out what went wrong. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '@fencepost/testing';
import type { ProcessEvidence } from './judge/evidence.ts';

/** Resolves to the folder: a file a process, a line as it was logged, and at the end how it ended. */
export async function keepLogs(seed: number, processes: readonly ProcessEvidence[]): Promise<string> {
  const folder = join(repositoryRoot, '.data', `soak-${seed}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const { name, lines, sent, exit } of processes) {
    const text = [...lines, { sent, exit }].map((line) => `${JSON.stringify(line)}\n`).join('');
    await writeFile(join(folder, `${name}.log`), text);
  }
  return folder;
}
