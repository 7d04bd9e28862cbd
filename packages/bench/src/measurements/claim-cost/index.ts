/**
 * What one claim of a hundred costs Fencepost on a table that is empty but for them, and on tables that are full: its
 * time and the pages that it touches, as EXPLAIN (ANALYZE, BUFFERS) of the statement that `claimJobs` really sends says,
 * in transactions that are rolled back.
 */
import { createPgClient } from '@fencepost/db';
import { claimJobs } from '@fencepost/queue/protocol';
import type { Bench } from '../../bench.ts';
import { quantile } from '../../statistics.ts';
import type { Contestant } from '../../systems/index.ts';
import type { Case, Measurement } from '../measurement.ts';
import { openExplainer } from './explainer.ts';
import { FILLINGS, type Filling } from './fillings.ts';

const BATCH = 100;
const CLAIMS = 15;
const RETRY = { baseMs: 2_000, maxMs: 600_000 };

export const claimCost: Measurement = {
  name: 'claim-cost',
  cases: FILLINGS.map(claimCase),
};

function claimCase(filling: Filling, index: number): Case {
  return {
    title: `one claim of ${BATCH}, ${filling.title}`,
    takesPart: ({ name }) => name === 'fencepost',
    async run(bench, contestant) {
      const figures = await measure(bench, contestant, filling);
      if (index === 0) return figures;
      const { ms } = await measure(bench, contestant, FILLINGS[0]!);
      return { ...figures, 'times the empty table': figures.ms / ms };
    },
  };
}

function measure(bench: Bench, contestant: Contestant, { types, statements }: Filling) {
  return bench.inArena(contestant, async ({ url, settle }) => {
    const session = createPgClient(url, { applicationName: 'bench', onError: () => {} });
    await session.connect();
    try {
      for (const statement of statements) await session.query(statement);
      await settle();
      const explainer = await openExplainer(session);
      const wanted = types.map((type) => ({ type, slots: BATCH, leaseMs: 30_000, retry: RETRY }));
      for (let n = 0; n < CLAIMS; n++) {
        await claimJobs(explainer.client, { workerId: 'bench', wanted, capacity: BATCH });
      }
      return { ms: quantile(explainer.times, 0.5), pages: quantile(explainer.pages, 0.5) };
    } finally {
      await session.end();
    }
  });
}
