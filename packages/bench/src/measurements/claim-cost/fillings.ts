/** Tables on which a claim is measured. Each has more due jobs than one claim takes. */

export interface Filling {
  readonly title: string;
  /** Those that the claim asks for. */
  readonly types: readonly string[];
  readonly statements: readonly string[];
}

const TYPE = 'type.0';
const TEN_TYPES = Array.from({ length: 10 }, (_, n) => `type.${n}`);

export const FILLINGS: readonly Filling[] = [
  filling('nothing else in the table'),
  filling('100,000 finished', finished(100_000)),
  filling('1,000,000 finished', finished(1_000_000)),
  filling('100,000 in the future', future(100_000)),
  filling('1,000,000 in the future', future(1_000_000)),
  filling('100,000 due', due(100_000)),
  filling('1,000,000 due', due(1_000_000)),
  { title: 'of ten types, 100,000 due', types: TEN_TYPES, statements: [due(100_000, 10)] },
];

function filling(title: string, ...statements: string[]): Filling {
  return { title, types: [TYPE], statements: [...statements, due(2_000)] };
}

function due(count: number, types = 1): string {
  return `
    INSERT INTO job_queue (type, payload, "runAt")
    SELECT 'type.' || n % ${types}, '{"n": 1}', now() - n * interval '1 ms'
    FROM generate_series(1, ${count}) AS n`;
}

/** Of better levels as well, whose jobs for later a claim must not read past. */
function future(count: number): string {
  return `
    INSERT INTO job_queue (type, payload, priority, "runAt")
    SELECT '${TYPE}', '{"n": 1}', n % 4, now() + interval '1 day' + n * interval '1 ms'
    FROM generate_series(1, ${count}) AS n`;
}

function finished(count: number): string {
  return `
    INSERT INTO job_queue (type, payload, state, attempts, claims, "claimedBy", "claimedAt", "finishedAt")
    SELECT '${TYPE}', '{"n": 1}', 'completed', 1, 1, 'worker', now(), now() - n * interval '1 ms'
    FROM generate_series(1, ${count}) AS n`;
}
