/** Postgres's five letters for what went wrong (SQLSTATE), wherever Prisma put them. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, meta, cause } = error as { code?: unknown; meta?: unknown; cause?: unknown };
  if (code === 'P2034') return '40001';
  const adapterError = (meta as { driverAdapterError?: { cause?: unknown } } | undefined)?.driverAdapterError;
  // The last is for an error of `pg` itself.
  for (const source of [adapterError?.cause, cause, meta, error]) {
    const found = (source as { originalCode?: unknown; code?: unknown } | undefined) ?? {};
    // Postgres's own, also where it looks like one of Prisma's (P0001, which PL/pgSQL raises).
    if (isState(found.originalCode)) return found.originalCode;
    if (isState(found.code) && !/^P[0-9]{4}$/.test(found.code)) return found.code;
  }
  return undefined;
}

/** The classes that Postgres has. Node's EPIPE has five letters too. */
function isState(code: unknown): code is string {
  return typeof code === 'string' && /^(?:[0-9][0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/.test(code);
}

/**
 * Whether the database refused one of the statement's rows. Postgres's classes of errors of connections (08), transactions
 * and read-only servers (25), schemas and rights (42), resources (53), shutdowns and timeouts (57), and of the server
 * itself (58, XX) say nothing of any row; nor does an error that is not Postgres's. The others do.
 */
export function isAboutRows(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !/^(08|25|42|53|57|58|XX)/.test(state);
}

/** A unique index refused the row. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505' || (error as { code?: unknown } | null)?.code === 'P2002';
}
