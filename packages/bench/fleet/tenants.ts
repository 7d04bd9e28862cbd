/** Which of several databases a tenant's jobs are in: always the same, in every process and version. */
import { createHash } from 'node:crypto';

export function databaseOf(tenant: string, databases: number): number {
  return createHash('sha256').update(tenant).digest().readUInt32BE() % databases;
}
