/** The counts and the verdict, as they are printed. */
import type { SoakSettings } from './settings.ts';
import type { SoakResult } from './soak.ts';

/** More of them say nothing new. */
const MOST_SHOWN = 40;

export function report(settings: SoakSettings, result: SoakResult): string {
  const { seed, seconds, workers, keepCompleted } = settings;
  const { counts, faults, violations } = result;
  const { moves } = counts;
  const lines = [
    `seed        ${seed}, ${seconds} s, ${workers} workers${keepCompleted ? '' : ', keeping nothing'}`,
    `load        ${counts.committed} committed, ${counts.rolledBack} rolled back, ${counts.unknown} unknown (${counts.foundCommitted} of them committed), ${result.failedTransactions} failed`,
    `jobs        ${spell(counts.behaviours)}`,
    `faults      ${spell(faults)}`,
    `moves       ${moves.claim} claims, ${moves.settle} settlements, ${moves.reclaim} reclaims, ${moves.cancel} cancels, ${moves.retry} retries`,
    `fenced      ${sum(counts.fenced)} (${spell(counts.fenced)})`,
    `ended       ${spell(counts.states)}`,
    `processes   ${counts.started} started; ${spell(counts.endings)}`,
    `effects     ${counts.completions} completions in handlers' transactions, ${counts.duplicated} duplicated`,
    `lost        ${counts.lost}`,
  ];
  if (violations.length === 0) lines.push('', 'everything as it must be');
  else {
    lines.push(
      '',
      `${violations.length} things are not as they must be; again with --seed ${seed}${keepCompleted ? '' : ' --keep-nothing'}:`,
    );
    for (const { rule, detail } of violations.slice(0, MOST_SHOWN)) lines.push(`- ${rule}: ${detail}`);
    if (violations.length > MOST_SHOWN) lines.push(`- and ${violations.length - MOST_SHOWN} more`);
  }
  return lines.join('\n');
}

function spell(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
