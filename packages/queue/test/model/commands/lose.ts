/**
 * A worker loses its claim and another one gets the job: the lease runs out, the sweep takes the row, it falls due and is
 * claimed anew. All of it happens by chance as well, but seldom, and most rules are about what the first worker does then.
 */
import fc from 'fast-check';
import { command, pick, type Real, type World } from '../world.ts';
import { claim } from './claim.ts';
import { drawn, kindOf } from './kinds.ts';
import { sweep } from './sweep.ts';
import { passTime } from './time.ts';

export const loseCommand = fc
  .record({ row: drawn, worker: fc.constantFrom('worker-1', 'worker-4') })
  .map(({ row, worker }) =>
    command(
      `lose(${row}, to ${worker})`,
      (world, real) => lose(world, real, row, worker),
      (world) => running(world).length > 0,
    ),
  );

const running = (world: Readonly<World>) => world.rows.filter(({ state }) => state === 'running');

async function lose(world: World, real: Real, drawnRow: number, workerId: string): Promise<void> {
  const { id } = pick(running(world), drawnRow);
  const row = () => world.table.get(id);
  const expired = row();
  if (expired) await passTime(world, real, expired, 'lockUntil', -600);
  await sweep(world, real, 1, true);
  const reclaimed = row();
  // Others may have been expired for longer; and it may have been the last that its job was given.
  if (reclaimed?.state !== 'pending') return;
  await passTime(world, real, reclaimed, 'runAt', -600);
  const wanted = [{ ...kindOf(reclaimed.type), slots: 1 }];
  await claim(world, real, { workerId, wanted, capacity: 1 }, true);
}
