/**
 * Where one primary ends, by calculation: from what a job, a look that finds nothing and an idle worker cost the server.
 * Pure: costs.ts has the costs from what was measured.
 */

/** Of the server. Milliseconds of a processor, unless it says otherwise. */
export interface Costs {
  /** A second of a worker that sleeps: its polls, sweeps and looks at the backlog. */
  readonly idleSecond: number;
  /** A claim that found nothing, with its share of the looks for the next due time. */
  readonly emptyLook: number;
  /** A job from enqueue to settlement, at the load that was measured: with its share of claims that found nothing. */
  readonly job: number;
  /** A renewal, of one claim or of all that a worker has. */
  readonly renewal: number;
  /** WAL of a job, in bytes. */
  readonly walBytes: number;
}

export interface Fleet {
  readonly workers: number;
  /** That a worker keeps open. */
  readonly connections: number;
  /** Of each worker, a second: one in ten seconds while it has jobs that take longer than a third of their lease. */
  readonly renewals: number;
  /** Looks that find nothing, of each worker with a free slot, for each enqueue while wake-ups are far apart. */
  readonly looksPerWake: number;
}

export interface Primary {
  readonly cores: number;
  /** Of the cores, what the queue may use: what is left is for the app, for vacuum, and for bad minutes. */
  readonly share: number;
  readonly connections: number;
  readonly walBytesPerSecond: number;
}

export interface Limits {
  /**
   * Jobs a second up to which every worker can follow every wake-up. From there on the processors may be full of looks
   * that find nothing, and jobs are done all the same: a worker has one look under way and no more.
   */
  readonly quiet: number;
  /** Jobs a second for which there are processors, at the cost that a job had. 0 where workers alone take all of them. */
  readonly byCpu: number;
  readonly byWal: number;
  /** Workers, by connections. */
  readonly workers: number;
  /** Milliseconds until every worker of the fleet has looked once: what a wake-up of all of them delays. */
  readonly wave: number;
  readonly first: 'cpu' | 'wal' | 'connections';
}

export function limitsOf(primary: Primary, costs: Costs, fleet: Fleet): Limits {
  const { cores, share, connections, walBytesPerSecond } = primary;
  const workersMs = fleet.workers * (costs.idleSecond + fleet.renewals * costs.renewal);
  const budget = Math.max(0, 1_000 * cores * share - workersMs);
  const byCpu = budget / costs.job;
  const byWal = walBytesPerSecond / costs.walBytes;
  const workers = Math.floor(connections / fleet.connections);
  return {
    quiet: budget / (costs.job + fleet.workers * fleet.looksPerWake * costs.emptyLook),
    byCpu,
    byWal,
    workers,
    wave: (fleet.workers * costs.emptyLook) / cores,
    first: workers < fleet.workers ? 'connections' : byWal < byCpu ? 'wal' : 'cpu',
  };
}
