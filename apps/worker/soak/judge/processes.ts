/** No process ends for a reason outside of the list, and none says anything that is not to be expected. */
import { CARELESS_MESSAGE } from '../contracts.ts';
import type { ProcessEvidence, Violation } from './evidence.ts';
import { isExpected } from './known-lines.ts';

export type Ending = 'killed' | 'drained' | 'unhandled rejection';

export interface JudgedProcesses {
  readonly violations: readonly Violation[];
  readonly endings: Readonly<Record<Ending, number>>;
}

export function judgeProcesses(processes: readonly ProcessEvidence[]): JudgedProcesses {
  const violations: Violation[] = [];
  const endings = { killed: 0, drained: 0, 'unhandled rejection': 0 };
  for (const process of processes) {
    const { name, exit, sent, lines } = process;
    const ending = endingOf(process);
    if (ending) endings[ending]++;
    else {
      const detail = `${name} ended with ${exit.signal ?? `code ${exit.code}`}, having been sent ${sent.join(', ') || 'nothing'}`;
      violations.push({ rule: 'no process ends for a reason outside of the list', detail });
    }
    for (const line of lines) {
      if (isExpected(line)) continue;
      violations.push({
        rule: 'no line is unexpected',
        detail: `${name}: ${JSON.stringify(line).slice(0, 1_500)}`,
      });
    }
  }
  return { violations, endings };
}

function endingOf({ exit, sent, lines }: ProcessEvidence): Ending | undefined {
  if (exit.signal === 'SIGKILL' && sent.includes('SIGKILL')) return 'killed';
  if (exit.code === 0 && sent.includes('SIGTERM')) return 'drained';
  const rejected = lines.some(({ msg, err }) => {
    return msg === 'unhandled rejection' && (err as { message?: unknown }).message === CARELESS_MESSAGE;
  });
  return exit.code === 1 && rejected ? 'unhandled rejection' : undefined;
}
