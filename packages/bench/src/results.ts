/** What was measured so far, by case, figure, system and repetition. */
export interface Sample {
  readonly case: string;
  readonly figure: string;
  readonly system: string;
  readonly repetition: number;
  readonly value: number;
}

export interface Failure {
  readonly case: string;
  readonly system: string;
  readonly repetition: number;
  readonly error: string;
}

export class Results {
  readonly samples: Sample[] = [];
  readonly failures: Failure[] = [];

  add(of: Omit<Sample, 'figure' | 'value'>, figures: Readonly<Record<string, number>>): void {
    for (const [figure, value] of Object.entries(figures)) this.samples.push({ ...of, figure, value });
  }

  fail(of: Omit<Failure, 'error'>, error: unknown): void {
    this.failures.push({ ...of, error: error instanceof Error ? error.message : String(error) });
  }

  /** Case and figure, in the order in which they first came. */
  rows(): { case: string; figure: string }[] {
    const rows = new Map(this.samples.map((sample) => [`${sample.case}\n${sample.figure}`, sample]));
    return [...rows.values()].map((sample) => ({ case: sample.case, figure: sample.figure }));
  }

  /** Values by system, each at the place of its repetition. */
  valuesOf(row: { case: string; figure: string }): Map<string, (number | undefined)[]> {
    const values = new Map<string, (number | undefined)[]>();
    for (const sample of this.samples) {
      if (sample.case !== row.case || sample.figure !== row.figure) continue;
      const ofSystem = values.get(sample.system) ?? [];
      ofSystem[sample.repetition] = sample.value;
      values.set(sample.system, ofSystem);
    }
    return values;
  }
}
