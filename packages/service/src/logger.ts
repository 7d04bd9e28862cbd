/** The log: a JSON object a line where a machine reads it, readable text on a terminal. */
import { describeThrown } from '@fencepost/queue/protocol';
import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';

/** @param name which process speaks: `web`, `worker`. */
export function createLogger(name: string, level: string): Logger {
  const options = {
    name,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: readableError },
    redact: { paths: SECRETS, censor: '(hidden)' },
  };
  // In this process and synchronous, which pino's own destination is not: what is said last, before an exit, is said.
  const destination = process.stdout.isTTY
    ? pretty({ sync: true, ignore: 'pid,hostname' })
    : pino.destination({ dest: 1, sync: true });
  return pino(options, destination);
}

/** Handlers and libraries throw anything: an error whose getters throw must not be the end of who logs it. */
function readableError(error: unknown): unknown {
  try {
    return pino.stdSerializers.err(error as Error);
  } catch {
    return { type: 'unreadable', ...describeThrown(error) };
  }
}

/** Fields that no line should have in the first place. */
const SECRETS = ['secret', 'password', 'authorization', '*.secret', '*.password', '*.authorization'];
