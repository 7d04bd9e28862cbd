/** Storage parameters to compare. The first are those that the migrations set. */

export interface Storage {
  readonly name: string;
  /** Run on a migrated database before its first job. */
  readonly statements: readonly string[];
}

export const STORAGE: readonly Storage[] = [
  { name: 'as migrated', statements: [] },
  {
    name: "Postgres' defaults",
    statements: [
      'ALTER TABLE job_queue RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)',
    ],
  },
  { name: 'fillfactor 100', statements: ['ALTER TABLE job_queue SET (fillfactor = 100)'] },
  { name: 'fillfactor 70', statements: ['ALTER TABLE job_queue SET (fillfactor = 70)'] },
  { name: 'fillfactor 50', statements: ['ALTER TABLE job_queue SET (fillfactor = 50)'] },
  {
    name: 'primary key, fillfactor 50',
    statements: ['ALTER INDEX job_queue_pkey SET (fillfactor = 50)'],
  },
  {
    name: 'indexes vacuumed every time',
    statements: ['ALTER TABLE job_queue SET (vacuum_index_cleanup = on)'],
  },
];
