/**
 * Tells "the database is out of reach or too busy" from errors of ours. Prisma says it by a code of its own, by the
 * kind that its adapter gives to an error, by Postgres's SQLSTATE, or passes on what the driver said, which has no code.
 */
export function isDatabaseTrouble(error: unknown): boolean {
  const { code, meta, message } = (error ?? {}) as {
    readonly code?: unknown;
    readonly meta?: { readonly driverAdapterError?: { readonly cause?: AdapterCause } };
    readonly message?: unknown;
  };
  const { kind = '', originalCode = '' } = meta?.driverAdapterError?.cause ?? {};
  return (
    PRISMA_CODES.has(String(code)) ||
    ADAPTER_KINDS.has(kind) ||
    SQL_STATES.test(originalCode) ||
    DRIVER_MESSAGES.test(String(message))
  );
}

interface AdapterCause {
  readonly kind?: string;
  readonly originalCode?: string;
}

/** Out of reach; no connection or transaction to be had in time; a conflict that trying again solves. */
const PRISMA_CODES = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037']);
const ADAPTER_KINDS = new Set([
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TlsConnectionError',
  'TooManyConnections',
  'TransactionWriteConflict',
]);
/** Connection exceptions, insufficient resources, shutting down or starting up. */
const SQL_STATES = /^(08...|53...|57P0[123])$/;
const DRIVER_MESSAGES = /timeout exceeded when trying to connect|Connection terminated/;
