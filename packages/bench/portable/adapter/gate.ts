/** The consumer's gate: a backlog is laid up before anybody works on it. Opens once, and stays open. */
import { readFile } from 'node:fs/promises';
import { rest } from './rest.ts';

const LOOK_EVERY_MS = 200;

/** Resolves to whether the gate is open; false once `signal` has aborted the wait. Without a gate it is open. */
export async function gateOpens(path: string | undefined, signal: AbortSignal): Promise<boolean> {
  while (path !== undefined && !signal.aborted) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text.trim() === 'open') break;
    await rest(LOOK_EVERY_MS, signal);
  }
  return !signal.aborted;
}
