/** What stops a run. The AbortSignal is made when somebody asks for it: most runs end before anybody has looked. */
import type { StopReason } from './run-environment.ts';
import type { Timers } from './timers.ts';

export class StopSignal {
  readonly #timers: Pick<Timers, 'now'>;
  #reason: StopReason | undefined;
  #stoppedAt: number | undefined;
  #controller: AbortController | undefined;

  constructor(timers: Pick<Timers, 'now'>) {
    this.#timers = timers;
  }

  /** Why the run was told to stop; undefined while it was not. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** When that was, by the clock of the process. */
  get stoppedAt(): number | undefined {
    return this.#stoppedAt;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** False if it was stopped before: the first reason stands. */
  stop(reason: StopReason): boolean {
    if (this.#reason !== undefined) return false;
    this.#reason = reason;
    this.#stoppedAt = this.#timers.now();
    this.#controller?.abort(reason);
    return true;
  }
}
