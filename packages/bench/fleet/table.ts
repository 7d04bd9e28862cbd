/** How the table of the queue is laid out: as the migrations make it, or partitioned by the hash of a column. */
import { SettingsError } from './errors.ts';

export type Table = 'plain' | { readonly by: 'type' | 'id'; readonly partitions: number };

/** By type alone: into a table by id nothing can be enqueued. @throws SettingsError */
export function parseTable(text: string): Table {
  if (text === 'plain') return text;
  const [, partitions] = /^type:([1-9]\d?)$/.exec(text) ?? [];
  if (partitions !== undefined) return { by: 'type', partitions: Number(partitions) };
  throw new SettingsError(`--table: expected plain or type:8, found "${text}"`);
}
