/**
 * A transaction that is held open between the steps of a race, in a session of its own. Over `pg`, where the statements are
 * the queue's own SQL: a fifth of Prisma's time, and there are a thousand races. Over Prisma, where Prisma writes the SQL.
 */
import type { createPgClient, createPrisma, Prisma } from '@fencepost/db';
import type { QueueClient } from '../../../src/client.ts';
import { only } from '../../fixtures/jobs.ts';
import type { Instant } from '../table.ts';

export interface Session {
  readonly connection: ReturnType<typeof createPgClient>;
  /** With one connection. */
  readonly prisma: ReturnType<typeof createPrisma>;
}

export interface Transaction {
  readonly client: QueueClient;
  readonly pid: number;
  /** What now() is for all of it. */
  readonly now: Instant;
  /** Rejects if the commit fails. */
  readonly end: (commits: boolean) => Promise<void>;
}

interface Terms {
  /** Whether its statement may wait for a lock. Any other that does so breaks its promise, and fails. */
  readonly mayWait: boolean;
  readonly isByPrisma: boolean;
}

export async function begin(session: Session, { mayWait, isByPrisma }: Terms): Promise<Transaction> {
  return isByPrisma ? beginByPrisma(session, mayWait) : beginByPg(session, mayWait);
}

interface Begun {
  readonly pid: number;
  readonly now: string;
}

const begun = (mayWait: boolean) => `
  SELECT
    pg_backend_pid() AS "pid",
    (extract(epoch FROM now()) * 1000000)::bigint::text AS "now",
    set_config('lock_timeout', '${mayWait ? '0' : '2s'}', true) AS "lockTimeout"`;

async function beginByPg({ connection }: Session, mayWait: boolean): Promise<Transaction> {
  const results: unknown = await connection.query(`BEGIN; ${begun(mayWait)}`);
  const { pid, now } = only((results as { rows: Begun[] }[])[1]?.rows ?? []);
  const query = (parts: TemplateStringsArray, values: unknown[]) => {
    const text = parts.reduce((sql, part, index) => `${sql}$${index}${part}`);
    return connection.query({ text, values, name: nameOf(text) });
  };
  const client: QueueClient = {
    $queryRaw: async <T>(parts: TemplateStringsArray, ...values: unknown[]) =>
      (await query(parts, values)).rows as T,
    $executeRaw: async (parts, ...values) => (await query(parts, values)).rowCount ?? 0,
    jobQueue: { updateMany: () => Promise.reject(new Error('spelled by Prisma alone')) },
  };
  const end = async (commits: boolean) => void (await connection.query(commits ? 'COMMIT' : 'ROLLBACK'));
  return { client, pid, now: Number(now), end };
}

const names = new Map<string, string>();

/** Prepared once for each connection, as Prisma's are. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `statement_${names.size}`;
  names.set(text, name);
  return name;
}

/** Longer than any race: Prisma would end the transaction after five seconds. */
const TIMEOUT_MS = 60_000;

async function beginByPrisma({ prisma }: Session, mayWait: boolean): Promise<Transaction> {
  let end: (commits: boolean) => void = () => {};
  const ending = new Promise<boolean>((resolve) => {
    end = resolve;
  });
  let over: Promise<void> = Promise.resolve();
  const client = await new Promise<Prisma.TransactionClient>((resolve, reject) => {
    const transaction = prisma.$transaction(
      async (tx) => {
        resolve(tx);
        if (!(await ending)) throw new RolledBack();
      },
      { timeout: TIMEOUT_MS, maxWait: TIMEOUT_MS },
    );
    over = transaction.catch((error: unknown) => {
      reject(error);
      if (!(error instanceof RolledBack)) throw error;
    });
    // Whoever ends the transaction hears of it.
    over.catch(() => {});
  });
  const { pid, now } = only(await client.$queryRawUnsafe<Begun[]>(begun(mayWait)));
  return {
    client,
    pid,
    now: Number(now),
    end(commits) {
      end(commits);
      return over;
    },
  };
}

class RolledBack extends Error {}
