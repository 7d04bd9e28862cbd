import { expect, it } from 'vitest';
import { kindOf } from '../statement-kinds.ts';

it('tells a heartbeat from a statement that only begins like one', () => {
  expect([kindOf('SELECT $1'), kindOf('SELECT $1 FROM "else"')]).toEqual(['heartbeat', 'other']);
});
