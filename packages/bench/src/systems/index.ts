/** The systems that are compared, in the order of the table. Each is loaded only by the processes that run it. */
import type { System } from './system.ts';

export interface Contestant {
  /** Of a grid's point, the system's name, a colon and the point: `limit:500x2`. */
  readonly name: string;
  readonly store: 'postgres' | 'redis everysec' | 'redis always';
  /** Of the jobs that are asked for; less than all where all would take minutes. */
  readonly share: number;
  /** What not every system can do. */
  readonly can: readonly ('transactions' | 'no wake-ups')[];
  /** Jobs a batch x loops or connections, of which the best is to be found. */
  readonly grid: readonly string[];
  /** It waits for each job of a batch before it takes the next: no match for handlers that take their time. */
  readonly batchesOnly: boolean;
  /** Of its worker's Node, as its documentation has them. */
  readonly nodeOptions: readonly string[];
  readonly load: (point: string) => Promise<System>;
}

/** As apps/worker/Dockerfile has them. */
const FENCEPOST_OPTIONS = ['--max-semi-space-size=16', '--heap-growing-percent=100'];

/** Of the limit. */
const GRID = ['100x1', '100x2', '100x4', '500x1', '500x2', '500x4'];

const all: readonly Contestant[] = [
  {
    ...postgres('fencepost', async () => (await import('./fencepost.ts')).fencepost),
    can: ['transactions', 'no wake-ups'],
    nodeOptions: FENCEPOST_OPTIONS,
  },
  {
    ...postgres('fencepost-keep-nothing', async () => (await import('./fencepost.ts')).fencepostKeepNothing),
    can: ['transactions', 'no wake-ups'],
    nodeOptions: FENCEPOST_OPTIONS,
  },
  {
    ...postgres('limit', async (point) => (await import('./limit/own-table.ts')).limitOnOwnTable(point)),
    can: ['transactions', 'no wake-ups'],
    grid: GRID,
    batchesOnly: true,
  },
  {
    ...postgres('limit-lean', async (point) =>
      (await import('./limit/lean-table.ts')).limitOnLeanTable(point),
    ),
    can: ['transactions', 'no wake-ups'],
    grid: GRID,
    batchesOnly: true,
  },
  {
    ...postgres('graphile-worker', async () => (await import('./graphile-worker.ts')).graphileWorker),
    can: ['transactions'],
  },
  {
    ...postgres('pg-boss', async (point) => (await import('./pg-boss.ts')).pgBoss(point)),
    can: ['transactions', 'no wake-ups'],
    grid: ['500x4', '1000x4', '2000x2'],
  },
  {
    ...postgres('bullmq-redis', async () => (await import('./bullmq-redis.ts')).bullmqOnRedis),
    store: 'redis everysec',
  },
  {
    ...postgres('bullmq-redis-always', async () => (await import('./bullmq-redis.ts')).bullmqOnRedis),
    store: 'redis always',
  },
  {
    ...postgres('bullmq-postgres', async () => (await import('./bullmq-postgres.ts')).bullmqOnPostgres),
    share: 0.2,
  },
  {
    ...postgres('prisma-queue', async () => (await import('./prisma-queue/index.ts')).prismaQueue),
    share: 0.01,
  },
];

function postgres(name: string, load: Contestant['load']): Contestant {
  return { name, store: 'postgres', share: 1, can: [], grid: [], batchesOnly: false, nodeOptions: [], load };
}

export const systemNames = all.map(({ name }) => name);

/** By name, which may name a point of the system's grid; undefined for one that is not there. */
export function findContestant(name: string): Contestant | undefined {
  const [systemName, point] = name.split(':');
  const found = all.find((contestant) => contestant.name === systemName);
  if (found === undefined || point === undefined) return found;
  return found.grid.includes(point) ? { ...found, name, grid: [] } : undefined;
}

export function pointOf({ name }: Pick<Contestant, 'name'>): string {
  return name.split(':')[1] ?? '';
}
