/**
 * The time that all processes of the server have spent on a processor, from Linux's /proc. Those that have ended are in
 * what the postmaster has waited for.
 */
import { readdir, readFile } from 'node:fs/promises';

/** `getconf CLK_TCK`, which is the same on every Linux that Node runs on. */
const TICK_MS = 10;

interface Stat {
  readonly parent: number;
  readonly ownMs: number;
  readonly childrenMs: number;
}

/** Milliseconds, without those of the session that looks; undefined where there is no /proc. */
export async function readServerCpu(lookingPid: number): Promise<number | undefined> {
  const looking = await readStat(lookingPid);
  const postmaster = looking && (await readStat(looking.parent));
  if (looking === undefined || postmaster === undefined) return undefined;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readStat(Number(pid))));
  const children = stats.filter((stat) => stat?.parent === looking.parent);
  const all = children.reduce((sum, stat) => sum + stat!.ownMs, postmaster.ownMs + postmaster.childrenMs);
  return all - looking.ownMs;
}

async function readStat(pid: number): Promise<Stat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  // The name stands in parentheses and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) * TICK_MS;
  return { parent: Number(fields[1]), ownMs: ticks(11), childrenMs: ticks(13) };
}
