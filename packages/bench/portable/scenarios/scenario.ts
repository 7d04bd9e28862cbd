/** What a scenario is: so many replicas under a load, and something that is done to them between two quiet times. */
import type { Fault } from './faults/fault.ts';
import type { Crew } from './replicas.ts';

export interface Scenario extends Crew {
  readonly name: string;
  /** None: everything after the warm-up is baseline. */
  readonly fault: Fault | undefined;
}
