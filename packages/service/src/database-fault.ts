/**
 * What is wrong with the database, in words for whoever is woken by it: a name that stays, and what it means. The
 * driver's own message stands beside it in the log. An error that is about a row or a statement has no name here.
 */
import { sqlState } from '@fencepost/queue/protocol';

export interface DatabaseFault {
  readonly name: string;
  readonly meaning: string;
  /** It keeps every statement away, so that whatever is answered shows that it is over. */
  readonly stopsAll: boolean;
}

export function databaseFault(error: unknown): DatabaseFault | undefined {
  const signs = [sqlState(error), ...codesOf(error)].filter((sign) => sign !== undefined);
  const message = String((error as { readonly message?: unknown } | null)?.message);
  return (
    FAULTS.find(({ codes }) => signs.some((sign) => codes.test(sign))) ??
    FAULTS.find(({ messages }) => messages?.test(message))
  );
}

/** What Prisma's adapter calls it, and what Node does. */
function codesOf(error: unknown): (string | undefined)[] {
  const { code, meta } = (error ?? {}) as {
    readonly code?: unknown;
    readonly meta?: { readonly driverAdapterError?: { readonly cause?: { readonly kind?: string } } };
  };
  return [meta?.driverAdapterError?.cause?.kind, typeof code === 'string' ? code : undefined];
}

/** By SQLSTATE, the adapter's kind or Node's code, which are never alike; and by what `pg` says without a code. */
const FAULTS: readonly (DatabaseFault & { readonly codes: RegExp; readonly messages?: RegExp })[] = [
  {
    name: 'read_only',
    meaning: 'the database takes no writes: it is a standby, or default_transaction_read_only is on',
    stopsAll: false,
    codes: /^25006$/,
  },
  {
    name: 'login_refused',
    meaning: 'the database refuses the user or the password of the URL',
    stopsAll: true,
    codes: /^28...$/,
  },
  {
    name: 'no_database',
    meaning: 'the server has no database of this name',
    stopsAll: true,
    codes: /^3D000$/,
  },
  {
    name: 'too_many_connections',
    meaning: 'the database has no connection left: max_connections, or the limit of the role or the database',
    stopsAll: true,
    codes: /^53300$/,
  },
  {
    name: 'out_of_resources',
    meaning: 'the database is out of disk or memory',
    stopsAll: false,
    codes: /^53...$/,
  },
  {
    name: 'not_accepting',
    meaning:
      'the database accepts no connections: it starts up, shuts down, or is a standby without hot_standby',
    stopsAll: true,
    codes: /^57P03$/,
  },
  {
    name: 'statement_cancelled',
    meaning:
      'the database cancels statements: they take longer than statement_timeout allows, or somebody does',
    stopsAll: false,
    codes: /^57014$/,
  },
  {
    name: 'not_migrated',
    meaning: 'the tables are not those of this release: prisma migrate deploy has not run on this database',
    stopsAll: false,
    codes: /^(42P01|42703|42883|42704|3F000)$/,
  },
  {
    name: 'transaction_pooler',
    meaning: 'a transaction pooler gives each statement another session: add ?pgbouncer=true to the URL',
    stopsAll: false,
    codes: /^(26000|42P05)$/,
  },
  {
    name: 'no_permission',
    meaning: 'the role of the URL may not do this',
    stopsAll: false,
    codes: /^42501$/,
  },
  {
    name: 'unreachable',
    meaning: 'nothing answers at the address of the URL',
    stopsAll: true,
    codes: /^(DatabaseNotReachable|E(CONNREFUSED|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH))$/,
  },
  {
    name: 'no_answer',
    meaning: 'the database does not answer in time: it is overloaded, or the network swallows the connection',
    stopsAll: false,
    codes: /^(SocketTimeout|ETIMEDOUT)$/,
    messages:
      /no answer within|timeout exceeded when trying to connect|connection timeout|Query read timeout/,
  },
  {
    name: 'connection_lost',
    meaning: 'the connection to the database, or to its pooler, was ended',
    stopsAll: true,
    codes: /^(08...|57P0[1245]|ConnectionClosed|ECONNRESET|EPIPE)$/,
    messages: /Connection terminated|not queryable|connection ended/,
  },
];
