/** Figures of several repetitions, put together. */

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summarise(values: readonly number[]): Summary {
  return { median: quantile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

/** The mean of the two in the middle where no value stands at the place itself; NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return share === 0.5 ? (below + above) / 2 : above;
}

/**
 * How many times the other's figure ours is: the median of the ratios within each repetition, since what runs one after
 * the other shares the machine's mood. Undefined where no repetition has both.
 */
export function medianRatio(
  ours: readonly (number | undefined)[],
  others: readonly (number | undefined)[],
): number | undefined {
  const ratios = ours.flatMap((value, index) => {
    const other = others[index];
    return value === undefined || other === undefined || other === 0 ? [] : [value / other];
  });
  return ratios.length === 0 ? undefined : quantile(ratios, 0.5);
}
