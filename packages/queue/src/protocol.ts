/** What a worker is built from: the moves of a job between its states, and the running of one job. */
export { DURATION_FORM, parseDuration, type Duration } from './core/durations.ts';
export { checkClient } from './check-arguments.ts';
export { describeThrown } from './core/thrown.ts';
export { afterClaim, anyBefore, type Heads } from './core/heads.ts';
export { decide, type Outcome, type Settlement } from './core/decide.ts';
export { LEASE_MS, MAX_CLAIM } from './core/limits.ts';
export { Deadlines } from './deadlines.ts';
export {
  prepareRun,
  startRun,
  type PreparedRun,
  type Run,
  type RunListener,
  type StartedRun,
} from './execute.ts';
export type { RunEnvironment, StopReason } from './run-environment.ts';
export type { Timers } from './timers.ts';
export { handlersByType } from './handlers-by-type.ts';
export { FENCED_OPS, type FencedOp, type FencedWrite } from './fenced-write.ts';
export { settleRuns, type SettledRun, type SettledRuns } from './settle-runs.ts';
export { claimJobs, type ClaimRequest, type Wanted } from './store/claim.ts';
export type { ClaimedJob } from './store/claimed-jobs.ts';
export { deleteFinished } from './store/cleanup.ts';
export { nameOf, type Fence, type Unsettled } from './store/fence.ts';
export { findHeads, type FoundHeads } from './store/find-heads.ts';
export { reclaimJobs, type ReclaimedJob } from './store/reclaim.ts';
export { renewLeases } from './renew-leases.ts';
export type { Lease, Renewal } from './store/renew.ts';
export { isAboutRows, sqlState } from './store/sql-state.ts';
export { findVacuumHolder, type VacuumHolder } from './store/vacuum-holder.ts';
