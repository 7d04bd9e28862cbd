const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Any version's text form: ids of rows inserted by hand need not be v7. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}
