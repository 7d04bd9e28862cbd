/** What stands in the migrations' SQL alone, where no diff with the schema sees it: CHECKs, functions, triggers, predicates. */
import { createTestDatabase } from '@fencepost/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { sql } from './support/databases.ts';

let url: string;
beforeAll(async () => {
  ({ url } = await createTestDatabase());
});

async function column(statement: string): Promise<string[]> {
  return (await sql<{ value: string }>(url, statement)).map(({ value }) => value);
}

describe('job_queue has', () => {
  it('its CHECKs, all of them valid', async () => {
    const checks = await column(
      `SELECT conname AS value
       FROM pg_constraint
       WHERE conrelid = 'job_queue'::regclass AND contype = 'c' AND convalidated
       ORDER BY conname`,
    );
    expect(checks).toEqual([
      'job_queue_attempts_counted',
      'job_queue_errors_list',
      'job_queue_final_is_finished',
      'job_queue_limits',
      'job_queue_priority_level',
      'job_queue_run_at_finite',
      'job_queue_running_is_claimed',
      'job_queue_type_named',
    ]);
  });

  it('its functions and its trigger, deferred to the commit and enabled', async () => {
    expect(
      await column(
        `SELECT proname AS value
         FROM pg_proc
         WHERE pronamespace = 'public'::regnamespace AND proname LIKE 'job\\_queue\\_%'
         ORDER BY proname`,
      ),
    ).toEqual(['job_queue_inserted', 'job_queue_uuid_v7', 'job_queue_wake']);
    expect(
      await sql(
        url,
        `SELECT tgname AS name, tgdeferrable AS deferrable, tginitdeferred AS deferred, tgenabled AS enabled
         FROM pg_trigger
         WHERE tgrelid = 'job_queue'::regclass AND NOT tgisinternal`,
      ),
    ).toEqual([{ name: 'job_queue_inserted', deferrable: true, deferred: true, enabled: 'O' }]);
  });

  it('its partial indexes, all of them valid', async () => {
    expect(
      await sql(
        url,
        `SELECT c.relname AS name, i.indisunique AS unique, i.indpred IS NOT NULL AS partial
         FROM pg_index i
         JOIN pg_class c ON c.oid = i.indexrelid
         WHERE i.indrelid = 'job_queue'::regclass AND i.indisvalid
         ORDER BY c.relname`,
      ),
    ).toEqual([
      { name: 'job_queue_dedupe', unique: true, partial: true },
      { name: 'job_queue_due', unique: false, partial: true },
      { name: 'job_queue_finished', unique: false, partial: true },
      { name: 'job_queue_lease', unique: false, partial: true },
      { name: 'job_queue_pkey', unique: true, partial: false },
    ]);
  });
});

describe('a job', () => {
  const claim = `"claimToken" = gen_random_uuid(), "lockUntil" = now(), "retryDelayMs" = 1`;

  it('needs no more than a type', async () => {
    const [job] = await sql(
      url,
      `INSERT INTO job_queue (type)
       VALUES ('test.defaults')
       RETURNING
         substring(id::text FROM 15 FOR 1) AS version,
         payload, state, priority, attempts, claims, crashes, errors,
         "runAt" = now() AS due, "createdAt" = now() AS created, "updatedAt" = now() AS updated`,
    );
    expect(job).toEqual({
      version: '7',
      payload: {},
      state: 'pending',
      priority: 2,
      attempts: 0,
      claims: 0,
      crashes: 0,
      errors: [],
      due: true,
      created: true,
      updated: true,
    });
  });

  it.each([
    ['job_queue_type_named', `type = ''`],
    ['job_queue_priority_level', `priority = 4`],
    ['job_queue_priority_level', `priority = -1`],
    ['job_queue_attempts_counted', `attempts = -1`],
    ['job_queue_attempts_counted', `claims = -1`],
    ['job_queue_attempts_counted', `crashes = -1`],
    ['job_queue_limits', `"maxAttempts" = 0`],
    ['job_queue_limits', `"maxAttempts" = 1001`],
    ['job_queue_run_at_finite', `"runAt" = 'infinity'`],
    ['job_queue_errors_list', `errors = '{}'`],
    ['job_queue_running_is_claimed', `state = 'running'`],
    [
      'job_queue_running_is_claimed',
      `state = 'running', "claimToken" = gen_random_uuid(), "lockUntil" = now()`,
    ],
    ['job_queue_running_is_claimed', `"claimToken" = gen_random_uuid()`],
    ['job_queue_running_is_claimed', claim],
    ['job_queue_final_is_finished', `state = 'completed'`],
    ['job_queue_final_is_finished', `"finishedAt" = now()`],
    ['job_queue_final_is_finished', `state = 'running', "finishedAt" = now(), ${claim}`],
  ])('violates %s with %s', async (constraint, values) => {
    const update = sql(
      url,
      `INSERT INTO job_queue (type) VALUES ('test.checks')`,
      `UPDATE job_queue SET ${values} WHERE type = 'test.checks'`,
    );
    await expect(update).rejects.toMatchObject({ code: '23514', constraint });
  });

  it.each([[`state = 'running', ${claim}`], [`state = 'dead', "finishedAt" = now()`]])(
    'may be %s',
    async (values) => {
      await sql(
        url,
        `INSERT INTO job_queue (type) VALUES ('test.states')`,
        `UPDATE job_queue SET ${values} WHERE type = 'test.states'`,
        `DELETE FROM job_queue WHERE type = 'test.states'`,
      );
      expect(await sql(url, `SELECT FROM job_queue WHERE type = 'test.states'`)).toHaveLength(0);
    },
  );
});
