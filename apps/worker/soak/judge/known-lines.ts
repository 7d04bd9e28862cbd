/** What a worker may say of a fault at `warn` and above: these messages, and errors of these causes. */
import type { LogLine } from '@fencepost/testing';
import { CARELESS_MESSAGE } from '../contracts.ts';

const WARN = 40;

type Fits = (line: LogLine) => boolean;
const always: Fits = () => true;

/** By message. Whatever else is said is a violation. */
const KNOWN: Readonly<Record<string, Fits>> = {
  'idle database connection lost': hasDatabaseTrouble,
  'statement failed': hasDatabaseTrouble,
  'wake-ups lost, polling until they are back': hasDatabaseTrouble,
  'progress not written': hasDatabaseTrouble,
  'progress not written: the row is locked': always,
  'handler threw after ctx.complete': always,
  'attempt failed': always,
  'job is dead': always,
  'job reclaimed: the lease of its worker ran out': always,
  'lease not renewed in time, run stopped': always,
  'fenced write: this claim no longer owns the row': always,
  'settlement not written, left to the sweep': ({ why }) =>
    why === 'the database has not taken it for a whole lease',
  'drain could not hand back every claim, left to the sweep': always,
  'unhandled rejection': ({ err }) => messageOf(err) === CARELESS_MESSAGE,
};

export function isExpected(line: LogLine): boolean {
  // Not JSON: a stack trace, a warning of Node's.
  if (typeof line['level'] !== 'number') return false;
  if (line['level'] < WARN) return true;
  return KNOWN[String(line['msg'])]?.(line) ?? false;
}

/** A database that is away, refuses, or does not answer; an error of a statement itself is none of them. */
const TROUBLE = [
  /Connection terminated|connection ended|closed the connection|not queryable/,
  /ECONNREFUSED|ECONNRESET|EPIPE/,
  // Shutting down, starting up, terminated, cancelled or timed out.
  /\b57(P0[1-5]|014)\b/,
  /\b53100\b/,
  /no answer within|timeout exceeded when trying to connect|connection timeout|Query read timeout/,
];

function hasDatabaseTrouble({ err }: LogLine): boolean {
  const { message, code } = (err ?? {}) as { message?: unknown; code?: unknown };
  return TROUBLE.some((trouble) => trouble.test(`${String(code)} ${String(message)}`));
}

function messageOf(err: unknown): unknown {
  return (err as { message?: unknown } | undefined)?.message;
}
