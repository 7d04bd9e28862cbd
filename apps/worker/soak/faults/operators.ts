/** Faults of people: cancelling and retrying at random, and sessions that lock rows in opposite orders and keep them. */
import { cancel, retry } from '@fencepost/queue';
import { waitFor } from '@fencepost/testing';
import type { SoakDatabase } from '../database.ts';
import { LEASE_MS } from '../contracts.ts';
import { pause, type Fault, type World } from './fault.ts';
import type { Random } from '../random.ts';

export const operate: Fault = {
  kind: 'cancels and retries',
  async inflict(world, random) {
    for (let times = random.whole(2, 5); times > 0; times--) {
      const ids = await someOf(async () => world.ledger.committedIds());
      await Promise.all([
        cancelJob(world, random.pick(ids.slice(-50))),
        retryJob(world, random.pick(ids)),
        retryJob(world, random.pick(ids)),
      ]);
    }
  },
};

/** Each waits for the other until Postgres ends one of them; and meanwhile operators are at the same rows. */
export const deadlock: Fault = {
  kind: 'rows locked in opposite orders',
  async inflict(world, random) {
    const ids = await unfinished(world.database);
    const [one, other] = ids as [string, string, ...string[]];
    await Promise.all([
      lockInOrder(world.database, [one, other], random.fork()),
      lockInOrder(world.database, [other, one], random.fork()),
      ...ids.slice(0, 4).map((id) => cancelJob(world, id)),
      ...ids.slice(0, 4).map((id) => retryJob(world, id)),
    ]);
  },
};

/** Somebody looks at a few rows in psql, `FOR UPDATE`, and is called to the telephone. */
export const holdRows: Fault = {
  kind: 'rows held',
  async inflict({ database }, random) {
    const ids = await unfinished(database);
    await inSession(database, async (query) => {
      await query('SELECT FROM job_queue WHERE id = ANY ($1::uuid[]) FOR UPDATE', [ids]);
      await pause(random, 200, 1.5 * LEASE_MS);
    });
  },
};

async function cancelJob({ enqueuer, ledger }: World, id: string): Promise<void> {
  ledger.cancelsAsked.add(id);
  await unlessTheDatabaseFails(cancel(enqueuer.prisma, id));
}

async function retryJob({ enqueuer }: World, id: string): Promise<void> {
  await unlessTheDatabaseFails(retry(enqueuer.prisma, id));
}

async function unfinished(database: SoakDatabase): Promise<string[]> {
  return someOf(async () => {
    const rows = await database.query<{ id: string }>(
      `SELECT id FROM job_queue WHERE state IN ('pending', 'running') ORDER BY random() LIMIT 8`,
    );
    return rows.map(({ id }) => id);
  });
}

/** There are some again soon: the enqueuer sees to that. */
async function someOf(find: () => Promise<string[]>): Promise<string[]> {
  const enough = async () => {
    const ids = await find();
    return ids.length >= 2 ? ids : undefined;
  };
  return waitFor(enough, { timeout: 180_000 });
}

async function lockInOrder(database: SoakDatabase, ids: readonly string[], random: Random): Promise<void> {
  await inSession(database, async (query) => {
    for (const id of ids) {
      await query('SELECT FROM job_queue WHERE id = $1 FOR UPDATE', [id]);
      await pause(random, 50, 300);
    }
  });
}

type Query = (sql: string, values: unknown[]) => Promise<unknown>;

/** In a transaction that is rolled back, or ended by the deadlock or by another fault: all the same here. */
async function inSession(database: SoakDatabase, work: (query: Query) => Promise<void>): Promise<void> {
  await unlessTheDatabaseFails(
    (async () => {
      const session = await database.session();
      try {
        await session.query('BEGIN');
        await work((sql, values) => session.query(sql, values));
      } finally {
        await session.end();
      }
    })(),
  );
}

/** Another fault may be under way. What the operator got for an answer does not matter: the rows tell. */
async function unlessTheDatabaseFails(work: Promise<unknown>): Promise<void> {
  await work.catch(() => {});
}
