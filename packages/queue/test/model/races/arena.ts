/** A database where races are run: its gate, its stage, and sessions for up to four at once. */
import { openDatabase } from '../../fixtures/database.ts';
import { buildGate, GATED } from './gate.ts';
import type { Order } from './interleave.ts';
import type { Operation } from './operations/operation.ts';
import { runRace } from './race.ts';
import type { Lane } from './runner.ts';
import { newStage, type SituationName } from './situations.ts';

const MOST = 4;

export interface Arena {
  /** Runs the operations in each of the orders; resolves to the number of races. */
  readonly race: (
    situation: { readonly name: SituationName; readonly rows?: number },
    operations: readonly Operation[],
    orders: readonly Order[],
    rolledBack?: number,
  ) => Promise<number>;
}

/** @param settings of the database. */
export async function openArena(settings: Record<string, string> = {}): Promise<Arena> {
  const database = await openDatabase({ ...settings, ...GATED });
  const gate = await buildGate(database);
  const stage = await newStage(database);
  const lanes: Lane[] = [];
  for (let n = 0; n < MOST; n++) {
    const session = { connection: await database.connect(), prisma: database.newPrisma(1) };
    lanes.push({ session, gate });
  }
  return {
    async race({ name, rows }, operations, orders, rolledBack) {
      for (const order of orders) {
        const race = { operations, order, ...(rolledBack !== undefined && { rolledBack }) };
        await runRace(database.prisma, lanes, await stage(name, rows), race);
      }
      return orders.length;
    },
  };
}
