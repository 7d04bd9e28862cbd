/** The states of a job and the levels of priority, in the words of the table. */
export const JOB_STATES = ['pending', 'running', 'completed', 'cancelled', 'dead'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A finished job moves again only if an operator retries it. */
export type FinalState = Extract<JobState, 'completed' | 'cancelled' | 'dead'>;

export function isFinal(state: JobState): state is FinalState {
  return state === 'completed' || state === 'cancelled' || state === 'dead';
}

/** Four levels, so that the claim can look at one index range a level. */
export const PRIORITIES = { urgent: 0, high: 1, normal: 2, low: 3 } as const;
export type Priority = keyof typeof PRIORITIES;

export function priorityName(level: number): Priority {
  for (const name of Object.keys(PRIORITIES) as Priority[]) if (PRIORITIES[name] === level) return name;
  return 'normal';
}
