/** Errors as Prisma, its adapter, `pg` and Node throw them, and what they say of the database. */
import { expect, test } from 'vitest';
import { databaseFault } from '../src/index.ts';

/** As `@prisma/adapter-pg` wraps it, whatever Prisma's own code is. */
const adapted = (cause: object) =>
  Object.assign(new Error('Raw query failed.'), { code: 'P2010', meta: { driverAdapterError: { cause } } });
const withState = (originalCode: string) => adapted({ kind: 'postgres', originalCode });
const withCode = (code: string, message = '') => Object.assign(new Error(message), { code });

test.each([
  ['read_only', withState('25006')],
  ['login_refused', withState('28P01')],
  ['login_refused', withCode('28000', 'role "app" is not permitted to log in')],
  ['no_database', withState('3D000')],
  ['too_many_connections', withState('53300')],
  ['out_of_resources', withState('53100')],
  ['not_accepting', withState('57P03')],
  ['statement_cancelled', withState('57014')],
  ['not_migrated', withState('42P01')],
  ['transaction_pooler', withState('26000')],
  ['no_permission', withState('42501')],
  ['unreachable', adapted({ kind: 'DatabaseNotReachable', host: '127.0.0.1' })],
  ['unreachable', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })],
  ['no_answer', new Error('timeout exceeded when trying to connect')],
  ['no_answer', new Error('no answer within 15000 ms')],
  ['no_answer', new Error('Query read timeout')],
  ['connection_lost', withState('57P01')],
  ['connection_lost', withState('08P01')],
  ['connection_lost', adapted({ kind: 'ConnectionClosed' })],
  ['connection_lost', withCode('ECONNRESET')],
  ['connection_lost', new Error('Connection terminated unexpectedly')],
])('%s', (name, error) => {
  expect(databaseFault(error)).toMatchObject({ name, meaning: expect.any(String) });
});

test.each([
  ['a row that is refused', withState('23505')],
  ['a deadlock', withState('40P01')],
  ['what PL/pgSQL raises', withState('P0001')],
  ['an error of ours', new TypeError('x is not a function')],
  ['no error', undefined],
  ['a string', 'ECONNREFUSED'],
])('%s is none', (_what, error) => {
  expect(databaseFault(error)).toBeUndefined();
});
