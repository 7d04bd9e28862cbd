/** What a worker is built from: the moves of a job between its states, and the running of one job. */
export { DURATION_FORM, parseDuration, type Duration } from './core/durations.ts';
export { decide, type Outcome, type Settlement } from './core/decide.ts';
export { LEASE_MS } from './core/limits.ts';
export { startRun, type Run } from './execute.ts';
export type { RunEnvironment, StopReason, Timers } from './run-environment.ts';
export { FENCED_OPS, type FencedOp, type FencedWrite } from './fenced-write.ts';
export { settleRuns, type SettledRun, type SettledRuns } from './settle-runs.ts';
export { claimJobs, type ClaimedJob, type ClaimRequest, type Wanted } from './store/claim.ts';
export { deleteFinished } from './store/cleanup.ts';
export type { Fence, Unsettled } from './store/fence.ts';
export { nextDueInMs } from './store/next-due.ts';
export { reclaimJobs, type ReclaimedJob } from './store/reclaim.ts';
export { renewLeases } from './renew-leases.ts';
export type { Lease, Renewal } from './store/renew.ts';
export { sqlState } from './store/sql-state.ts';
