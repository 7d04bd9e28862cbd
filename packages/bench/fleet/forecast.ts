/** Where primaries of some sizes end with fleets of some sizes, by what a measured fleet has cost. */
import { costsOf, looksWhileWoken } from './costs.ts';
import type { FleetResult } from './measure-fleet.ts';
import { limitsOf, type Fleet, type Limits, type Primary } from './model.ts';

/** Sizes that are sold: what they log, and how many connections they take, are assumptions. */
const PRIMARIES: readonly Primary[] = [
  { cores: 2, connections: 200, walBytesPerSecond: 20e6 },
  { cores: 8, connections: 500, walBytesPerSecond: 100e6 },
  { cores: 32, connections: 2_000, walBytesPerSecond: 300e6 },
].map((primary) => ({ ...primary, share: 0.7 }));
const FLEETS = [10, 50, 200, 1_000];
/** Every worker has a job that takes longer than ten seconds, and the lease that jobs have by default. */
const RENEWALS = 0.1;

export interface Forecast {
  readonly primary: Primary;
  readonly fleet: Fleet;
  readonly limits: Limits;
}

/** Undefined where the server's CPU is not to be had. */
export function forecast(result: FleetResult): Forecast[] | undefined {
  const costs = costsOf(result);
  if (costs === undefined) return undefined;
  const each = {
    connections: result.idle.sessions.open / result.workers,
    renewals: RENEWALS,
    looksPerWake: looksWhileWoken(result) / result.woken.enqueued / result.workers,
  };
  return PRIMARIES.flatMap((primary) =>
    FLEETS.map((workers) => {
      const fleet = { ...each, workers };
      return { primary, fleet, limits: limitsOf(primary, costs, fleet) };
    }),
  );
}
