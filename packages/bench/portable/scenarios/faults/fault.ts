/** What is done to a scenario's world: for so many seconds, and mended when it resolves. */
import type { BenchDatabase } from '../database.ts';
import type { Replicas } from '../replicas.ts';

export interface World {
  readonly database: BenchDatabase;
  readonly replicas: Replicas;
}

export type Fault = (world: World, seconds: number) => Promise<void>;
