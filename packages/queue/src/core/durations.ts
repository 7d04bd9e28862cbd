/** Durations as people write them: milliseconds, or a whole number with a unit. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

export const DURATION_FORM = 'milliseconds or a duration such as "500ms", "30s", "5m", "2h", "1d"';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Whole milliseconds, or undefined where the value is not a duration. Negative, fractional and unsafe ones are not. */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(value);
  if (!match) return undefined;
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  return Number.isSafeInteger(ms) ? ms : undefined;
}
