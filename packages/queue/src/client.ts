/**
 * What the queue needs of Prisma, spelled structurally: any `PrismaClient`, or transaction client, that was generated
 * from a schema with `job_queue.prisma` fits, from whatever folder it was generated.
 */
export interface QueueClient {
  $queryRaw<T = unknown>(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<T>;
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
  readonly jobQueue: {
    updateMany(args: { where: FencedWhere; data: FencedData }): PromiseLike<{ count: number }>;
  };
}

/** The fence of a single-row write: all three, always. */
export interface FencedWhere {
  readonly id: string;
  readonly claimToken: string;
  readonly state: 'running';
}

/** The token over itself: what a run writes to lock its row. */
export interface FencedData {
  readonly claimToken: string;
}

/** The logger that handlers are given: pino's, or any that takes fields first and a stable message second. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
  /** Where there is one, nothing is put together for lines that would not be written. */
  isLevelEnabled?(level: 'debug'): boolean;
}
