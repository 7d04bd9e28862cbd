/**
 * Tells "the database is out of reach, takes no writes or is too busy" from errors of ours. Prisma says it by a code of
 * its own, by the kind that its adapter gives to an error, by Postgres's SQLSTATE, or passes on what the driver said.
 */
import { databaseFault } from '@fencepost/service';

export function isDatabaseTrouble(error: unknown): boolean {
  const { code, meta } = (error ?? {}) as {
    readonly code?: unknown;
    readonly meta?: { readonly driverAdapterError?: { readonly cause?: { readonly kind?: string } } };
  };
  if (PRISMA_CODES.has(String(code))) return true;
  if (ADAPTER_KINDS.has(meta?.driverAdapterError?.cause?.kind ?? '')) return true;
  const fault = databaseFault(error);
  return fault !== undefined && !MISTAKES.has(fault.name);
}

/** Out of reach; no connection or transaction to be had in time; a conflict that trying again solves. */
const PRISMA_CODES = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037']);
const ADAPTER_KINDS = new Set(['TlsConnectionError', 'TransactionWriteConflict']);
/** Of a deployment: to come back later does not help. */
const MISTAKES = new Set(['not_migrated', 'no_permission', 'transaction_pooler']);
