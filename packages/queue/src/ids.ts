import { isUuid } from './core/uuid.ts';
import { InvalidOptionError } from './errors.ts';

/** @throws InvalidOptionError naming the field, if the id is no UUID. */
export function checkedId(field: string, id: string): string {
  if (isUuid(id)) return id;
  throw new InvalidOptionError(field, id, 'a UUID');
}
