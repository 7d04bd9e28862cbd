/**
 * How the process ends. SIGTERM and SIGINT drain and exit 0; a second signal ends the drain's wait. What nobody caught
 * is fatal: the process is in a state that nobody thought of, so it drains and exits 1.
 */
import type { Logger } from 'pino';

export interface Ending {
  readonly logger: Logger;
  /** Called once. */
  stop(): Promise<void>;
  hurry(): void;
}

/** Returns the way to end the process for another reason; the first exit code that is not 0 stands. */
export function endOn(process: NodeJS.Process, { logger, stop, hurry }: Ending): (exitCode: number) => void {
  let stopping = false;
  let exitCode = 0;
  const end = (code: number) => {
    exitCode ||= code;
    if (stopping) return;
    stopping = true;
    stop()
      .catch((error: unknown) => {
        logger.fatal({ err: error }, 'stopping failed');
        exitCode = 1;
      })
      // Not left to the event loop: a handler that never returns may keep it alive for ever.
      .finally(() => process.exit(exitCode));
  };

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      logger.info({ signal }, stopping ? 'second signal, no more waiting' : 'signal received');
      if (stopping) hurry();
      end(0);
    });
  }
  process.on('unhandledRejection', (error) => {
    logger.fatal({ err: error }, 'unhandled rejection');
    end(1);
  });
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'uncaught exception');
    end(1);
  });
  return end;
}
