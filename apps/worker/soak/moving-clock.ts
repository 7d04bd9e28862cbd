/** A wall clock that jumps under a worker: by hours, back and forth, with each SIGUSR2. */

const JUMPS_MS = [5 * 3_600_000, -3 * 3_600_000, 0];

export function moveClockOnSignal(): void {
  const RealDate = Date;
  let jumps = 0;
  let aheadMs = 0;

  class MovingDate extends RealDate {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(MovingDate.now());
      else super(...(args as [number]));
    }

    static override now(): number {
      return RealDate.now() + aheadMs;
    }
  }

  globalThis.Date = MovingDate as DateConstructor;
  process.on('SIGUSR2', () => {
    aheadMs = JUMPS_MS[jumps++ % JUMPS_MS.length] ?? 0;
  });
}
