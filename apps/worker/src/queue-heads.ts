/**
 * From where this worker's claims look: from the beginning, which alone sees every job, unless that is known to be a
 * detour. While claims come back full, the next one goes on where the last one ended, and past none of what has been
 * claimed since the last vacuum; one a second looks from the beginning all the same. And where a snapshot holds back
 * vacuum, so that the entries of jobs that have passed make any look from the beginning dear, claims start from heads
 * that surveys find anew, and only a probe looks from the beginning.
 *
 * Known to this worker's loop alone: what others have claimed, and jobs that have come to be before the heads, it learns
 * from the next look from the beginning or the next survey.
 */
import type { QueueClient } from '@fencepost/queue';
import {
  afterClaim,
  anyBefore,
  findHeads,
  type ClaimedJob,
  type FoundHeads,
  type Heads,
} from '@fencepost/queue/protocol';
import type { Clock } from './clock.ts';
import type { DatabaseWatch } from './database-watch.ts';
import { SurveySchedule } from './survey-schedule.ts';

/** Fewer take less time than a small claim does. There may be as many where nothing is held back: claims have left them since the last look. */
const FEW_ENTRIES = 1_000;
/** In a backlog: no job before the heads, one that was handed back for instance, waits longer for a claim to see it. */
const LOOK_BACK_MS = 1_000;
/** A claim that fails sooner was not held up by what it had to pass. */
const HELD_UP_MS = 1_000;
/** A busy server takes long for whatever it does; an entry alone takes no longer than this. */
const MOST_MS_AN_ENTRY = 0.001;

export interface QueueHeadsOptions {
  readonly client: QueueClient;
  readonly clock: Clock;
  readonly database: DatabaseWatch;
  readonly types: readonly string[];
}

/** Where a claim starts, and what was known when that was decided. */
export interface ClaimStart {
  /** Undefined: from the beginning. */
  readonly from: Heads | undefined;
  /** So many surveys had found the heads. */
  readonly surveys: number;
  readonly decidedAt: number;
}

export interface ClaimMade {
  readonly capacity: number;
  readonly tookMs: number;
}

export class QueueHeads {
  readonly #options: QueueHeadsOptions;
  readonly #schedule: SurveySchedule;
  #heads: Heads = new Map();
  #surveying: Promise<number | null> | undefined;
  #surveys = 0;
  #mustSurvey = true;
  /** The last claim brought as many jobs as it could. */
  #isBacklog = false;
  /** When a claim started that has looked from the beginning. */
  #lookedBackAt = -Infinity;

  constructor(options: QueueHeadsOptions) {
    this.#options = options;
    this.#schedule = new SurveySchedule(options.clock.now());
  }

  /**
   * For the next claim. The first one waits for a survey, and so does one after a look from the beginning that took
   * too long: a claim that passes more dead entries than it has time for takes nothing, and so would the next one.
   */
  async start(): Promise<ClaimStart> {
    if (this.#mustSurvey) await this.#survey();
    this.#mustSurvey = false;
    const decidedAt = this.#options.clock.now();
    const goesOn = this.#isBacklog && decidedAt - this.#lookedBackAt < LOOK_BACK_MS;
    const atHeads = this.#schedule.fromHeads || (goesOn && !this.#schedule.isProbe);
    return { from: atHeads ? this.#heads : undefined, surveys: this.#surveys, decidedAt };
  }

  /** The claim has been answered. Surveys beside the claims to come, if it is time. */
  claimed(start: ClaimStart, jobs: readonly ClaimedJob[], { capacity, tookMs }: ClaimMade): void {
    const looksBack = start.from === undefined;
    this.#schedule.claimed(tookMs, looksBack);
    this.#isBacklog = jobs.length === capacity;
    if (looksBack) this.#lookedBackAt = start.decidedAt;
    // Unless a survey beside it has found others, perhaps before those that the claim has looked from.
    const isKnown = looksBack ? start.surveys === this.#surveys : start.from === this.#heads;
    if (isKnown) this.#heads = afterClaim(this.#heads, jobs);
    if (this.#schedule.isDue(this.#options.clock.now())) void this.#survey().catch(() => {});
  }

  /** The claim has failed, or was not waited for any longer. */
  failed({ from }: ClaimStart, tookMs: number): void {
    if (from !== undefined || tookMs < HELD_UP_MS) return;
    this.#schedule.gaveUp();
    this.#mustSurvey = true;
  }

  /** Before the loop sleeps: milliseconds until the next job is due, null if there is none. */
  async nextDueInMs(): Promise<number | null> {
    const { clock } = this.#options;
    if (!this.#schedule.fromHeads || this.#schedule.isDue(clock.now())) return this.#survey();
    // Beyond what others have claimed, and beyond the dead entries behind a job that was before the heads.
    const { heads, dueInMs } = await this.#find(this.#heads);
    this.#heads = heads;
    return dueInMs;
  }

  /** The longest that the loop may sleep: a survey may find what is before the heads. */
  sleepMs(): number {
    const { clock } = this.#options;
    return this.#schedule.fromHeads ? Math.max(0, this.#schedule.dueInMs(clock.now())) : Infinity;
  }

  #survey(): Promise<number | null> {
    this.#surveying ??= this.#surveyOnce().finally(() => {
      this.#surveying = undefined;
    });
    return this.#surveying;
  }

  async #surveyOnce(): Promise<number | null> {
    const { clock } = this.#options;
    const startedAt = clock.now();
    const known = this.#heads;
    try {
      const found = await this.#find();
      this.#heads = found.heads;
      this.#surveys += 1;
      if (anyBefore(found.heads, known)) this.#schedule.foundStraggler(clock.now());
      else this.#schedule.surveyed(clock.now(), found.tookMs, deadMs(found));
      return found.dueInMs;
    } catch (error) {
      // Heads that are remembered stay good: claims from the beginning might take just as long.
      this.#schedule.failed(clock.now(), clock.now() - startedAt);
      throw error;
    }
  }

  #find(from?: Heads): Promise<FoundHeads> {
    const { client, database, types } = this.#options;
    return database.run('next_due', () => findHeads(client, types, from));
  }
}

/** How much of a survey's time went to dead entries, as far as it is more than noise. */
function deadMs({ tookMs, passed }: FoundHeads): number {
  return passed < FEW_ENTRIES ? 0 : Math.min(tookMs, passed * MOST_MS_AN_ENTRY);
}
