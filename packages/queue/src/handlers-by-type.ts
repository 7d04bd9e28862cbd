import { DuplicateHandlerError, InvalidOptionError } from './errors.ts';
import type { JobHandler } from './job.ts';

/**
 * Which handler runs which type.
 * @throws DuplicateHandlerError, InvalidOptionError
 */
export function handlersByType(handlers: readonly JobHandler[]): Map<string, JobHandler> {
  if (!Array.isArray(handlers)) throw new InvalidOptionError('handlers', handlers, 'a list of handlers');
  const found = new Map<string, JobHandler>();
  for (const [index, handler] of handlers.entries()) {
    const type = (handler as JobHandler | undefined)?.contract?.type;
    if (type === undefined)
      throw new InvalidOptionError(`handlers[${index}]`, handler, 'what handle returns');
    if (found.has(type)) throw new DuplicateHandlerError(type);
    found.set(type, handler);
  }
  return found;
}
