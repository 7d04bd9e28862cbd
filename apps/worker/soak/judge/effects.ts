/** Effects in Postgres exactly once: one for each completion, and by the run of the claim that completed. */
import { completesInTransaction, type Behaviour } from '../contracts.ts';
import type { Evidence, Violation } from './evidence.ts';
import { kindOf } from './moves.ts';

const RULE = 'effects in Postgres happen exactly once';

export interface JudgedEffects {
  readonly violations: readonly Violation[];
  readonly completions: number;
  /** More than one of one completion. */
  readonly duplicated: number;
}

export function judgeEffects({ ledger, moves, effects, outside }: Evidence): JudgedEffects {
  const violations: Violation[] = [];
  const behaviours = new Map<string, Behaviour>(ledger.map(({ id, behaviour }) => [id, behaviour]));
  const inTransaction = (job: string) => completesInTransaction(behaviours.get(job) ?? 'plain');

  // An operator may give a completed job another life, which completes again: each completion has its claim's number.
  const completed = moves.filter((move) => kindOf(move) === 'settle' && move.stateAfter === 'completed');
  const open = new Set<string>();
  for (const { job, claims } of completed) if (inTransaction(job)) open.add(`${job} ${claims}`);
  const completions = open.size;

  const seen = new Set<string>();
  let duplicated = 0;
  for (const { job, fence } of effects) {
    const key = `${job} ${fence}`;
    if (seen.has(key)) {
      duplicated++;
      violations.push({ rule: RULE, detail: `job ${job}: two effects of claim ${fence}` });
    } else if (!open.delete(key)) {
      violations.push({
        rule: RULE,
        detail: `job ${job}: an effect of claim ${fence}, which did not complete it`,
      });
    }
    seen.add(key);
  }
  for (const key of open) {
    const [job, claims] = key.split(' ');
    violations.push({ rule: RULE, detail: `job ${job}: completed by claim ${claims} without its effect` });
  }

  const happened = new Set(outside.map(({ job }) => job));
  for (const { job } of completed) {
    if (inTransaction(job) || happened.has(job)) continue;
    violations.push({ rule: 'a completed job has run', detail: `job ${job} never did` });
  }
  return { violations, completions, duplicated };
}
