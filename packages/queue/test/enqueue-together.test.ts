/** Enqueues outside of transactions share statements, and nothing else: each has its own outcome. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { enqueue } from '../src/index.ts';
import { openDatabase } from './fixtures/database.ts';
import { newContract, only } from './fixtures/jobs.ts';

const { prisma, newPrisma, row, connect, isWaiting } = await openDatabase();
const admin = await connect();

const TWENTY = Array.from({ length: 20 }, (_, n) => n);

/** The client, with the inserts that it is asked for. */
function counting() {
  let inserts = 0;
  const client = new Proxy(prisma, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (key !== '$queryRaw') return value;
      return (query: TemplateStringsArray, ...values: unknown[]) => {
        if (query.join('').includes('INSERT INTO "job_queue"')) inserts += 1;
        return target.$queryRaw(query, ...values);
      };
    },
  });
  return { client, inserts: () => inserts };
}

async function sleeping(): Promise<number | null> {
  const { rowCount } = await admin.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
  );
  return rowCount;
}

/** As a team's own trigger may: it refuses some rows, or leaves them out. */
async function withTrigger(body: string, work: () => Promise<void>): Promise<void> {
  await admin.query(`
    CREATE FUNCTION picky() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$;
    CREATE TRIGGER picky BEFORE INSERT ON job_queue FOR EACH ROW EXECUTE FUNCTION picky()`);
  try {
    await work();
  } finally {
    await admin.query('DROP TRIGGER picky ON job_queue; DROP FUNCTION picky()');
  }
}

test('twenty at once are one statement, and each gets the id of its own job', async () => {
  const contract = newContract();
  const { client, inserts } = counting();
  const outcomes = await Promise.all(TWENTY.map((n) => enqueue(client, contract, { n })));
  expect(inserts()).toBe(1);
  for (const [n, { outcome, id }] of outcomes.entries()) {
    expect(outcome).toBe('created');
    expect((await row(id)).payload).toEqual({ n });
  }
});

test('those of another type, or with other limits, have a statement of their own', async () => {
  const { client, inserts } = counting();
  const one = newContract();
  const [{ id: oneId }, { id: otherId }] = await Promise.all([
    enqueue(client, one, 1),
    enqueue(client, newContract({ type: one.type, maxAttempts: 3 }), 2),
    enqueue(client, newContract(), 3),
  ]);
  expect(inserts()).toBe(3);
  expect((await row(oneId)).maxAttempts).toBe(one.maxAttempts);
  expect((await row(otherId)).maxAttempts).toBe(3);
});

test('while statements are under way the next ones gather', async () => {
  const contract = newContract();
  const { client, inserts } = counting();
  const callers = TWENTY.map(async () => {
    for (let n = 0; n < 20; n++) await enqueue(client, contract, { n });
  });
  await Promise.all(callers);
  expect(await prisma.jobQueue.count({ where: { type: contract.type } })).toBe(400);
  expect(inserts()).toBeLessThan(200);
});

test('one that the database refuses fails none of its neighbours', async () => {
  const contract = newContract();
  const refusal = `IF NEW.payload = '7' THEN RAISE EXCEPTION 'no sevens' USING ERRCODE = '45000'; END IF;`;
  await withTrigger(refusal, async () => {
    const results = await Promise.allSettled(TWENTY.map((n) => enqueue(prisma, contract, n)));
    const refused = results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []));
    expect(refused).toEqual([7]);
    expect(String((results[7] as PromiseRejectedResult).reason)).toContain('no sevens');
  });
  const rows = await prisma.jobQueue.findMany({ where: { type: contract.type } });
  expect(rows.map(({ payload }) => payload).toSorted((a, b) => Number(a) - Number(b))).toEqual(
    TWENTY.filter((n) => n !== 7),
  );
});

test('one that the database leaves out is not said to be created', async () => {
  const contract = newContract();
  await withTrigger(`IF NEW.payload = '7' THEN RETURN NULL; END IF;`, async () => {
    const results = await Promise.allSettled(TWENTY.map((n) => enqueue(prisma, contract, n)));
    expect(results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([7]);
  });
});

test('where the database cannot be asked each of them hears of it, and nothing was written', async () => {
  const contract = newContract();
  const other = newPrisma(1);
  await other.$disconnect();
  await admin.query('ALTER TABLE job_queue RENAME TO hidden');
  try {
    const results = await Promise.allSettled(TWENTY.map((n) => enqueue(other, contract, n)));
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  } finally {
    await admin.query('ALTER TABLE hidden RENAME TO job_queue');
  }
  expect(await prisma.jobQueue.count({ where: { type: contract.type } })).toBe(0);
});

test('in a transaction a job goes with that, whatever is enqueued beside it', async () => {
  const contract = newContract();
  const rolledBack = prisma.$transaction(async (tx) => {
    await Promise.all([...TWENTY.map((n) => enqueue(tx, contract, n)), enqueue(prisma, contract, 'beside')]);
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  const { payload } = only(await prisma.jobQueue.findMany({ where: { type: contract.type } }));
  expect(payload).toBe('beside');
});

test('through a client with extensions each goes alone, in the context of its caller', async () => {
  const context = new AsyncLocalStorage<number>();
  const seen: (number | undefined)[] = [];
  const extended = prisma.$extends({
    query: {
      $queryRaw({ args, query }) {
        seen.push(context.getStore());
        return query(args);
      },
    },
  });
  const contract = newContract();
  await Promise.all(TWENTY.map((n) => context.run(n, () => enqueue(extended, contract, n))));
  expect(seen.toSorted((a, b) => Number(a) - Number(b))).toEqual(TWENTY);
});

test('statements that hang do not keep others from being sent', async () => {
  const contract = newContract();
  const other = newPrisma(3);
  const slow = `IF NEW.payload = '"slow"' THEN PERFORM pg_sleep(9); END IF;`;
  await withTrigger(slow, async () => {
    const hanging = [enqueue(other, contract, 'slow')];
    await expect.poll(sleeping).toBe(1);
    hanging.push(enqueue(other, contract, 'slow'));
    await expect.poll(sleeping).toBe(2);
    const startedAt = performance.now();
    let attempts = 0;
    const waiting: Promise<unknown>[] = [];
    // Each is a reason to look whether those under way have been for too long.
    await Promise.race([
      ...hanging,
      (async () => {
        for (; performance.now() - startedAt < 8_000; attempts++) {
          waiting.push(enqueue(other, contract, attempts));
          if ((await prisma.jobQueue.count({ where: { type: contract.type } })) > 0) return;
          await pause(100);
        }
      })(),
    ]);
    expect(await prisma.jobQueue.count({ where: { type: contract.type } })).toBeGreaterThan(0);
    await Promise.all([...hanging, ...waiting]);
  });
}, 60_000);

test('one with a dedupe key waits for the holder of the key alone', async () => {
  const contract = newContract();
  const holder = await connect();
  await holder.query('BEGIN');
  await holder.query(`INSERT INTO job_queue (type, "dedupeKey") VALUES ($1, 'k')`, [contract.type]);
  const waiting = enqueue(prisma, contract, 'waits', { dedupeKey: 'k' });
  await Promise.all(TWENTY.map((n) => enqueue(prisma, contract, n)));
  await expect.poll(isWaiting).toBe(true);
  await holder.query('ROLLBACK');
  expect(await waiting).toMatchObject({ outcome: 'created' });
});
