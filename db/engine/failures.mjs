/**
 * Prisma's error codes and words. The module throws a text alone, and a failed migration's is not even the native
 * engine's: the CLI prints a code before it, and people look that up.
 */

/** @type {readonly (readonly [RegExp, string])[]} */
const CODES = [
  [/^Authentication failed against database server/, 'P1000'],
  [/^Can't reach database server/, 'P1001'],
  [/^The database server was reached but timed out/, 'P1002'],
  [/^Database `[^`]*` does not exist/, 'P1003'],
  [/^Operations timed out/, 'P1008'],
  [/^Database `[^`]*` already exists/, 'P1009'],
  [/^User (?:`[^`]*` )?was denied access on the database/, 'P1010'],
  [/^Error opening a TLS connection/, 'P1011'],
  [/^Server has closed the connection/, 'P1017'],
  [/^The database schema is not empty/, 'P3005'],
  [/^Migration `[^`]*` failed to apply cleanly to the shadow database/, 'P3006'],
  [/^The migration `[^`]*` is already recorded as applied/, 'P3008'],
  [/^migrate found failed migrations in the target database/, 'P3009'],
  [/^Migration `[^`]*` cannot be rolled back because it was never applied/, 'P3011'],
  [/^Migration `[^`]*` cannot be rolled back because it is not in a failed state/, 'P3012'],
  [/^Failed to connect to the shadow database/, 'P3014'],
  [/^Could not find the migration file/, 'P3015'],
  [/^The migration .* could not be found/, 'P3017'],
  [/^A migration failed to apply/, 'P3018'],
  [/^The datasource provider `[^`]*` specified in your schema does not match/, 'P3019'],
  [/^The introspected database was empty/, 'P4001'],
];

const FAILED_MIGRATION =
  /^external connector error\n(?:Error querying the database: )?(.*?)\n +0: sql_schema_connector::apply_migration::apply_script\s+with migration_name="([^"]*)".*/s;

/**
 * What a failure is called, by the message that the module threw.
 *
 * @param {string} thrown
 * @returns {{ message: string, code: string | undefined }}
 */
export function describeFailure(thrown) {
  const message = thrown
    .trimEnd()
    .replace(FAILED_MIGRATION, (_, cause, migration) => failedMigration(migration, cause));
  return { message, code: CODES.find(([pattern]) => pattern.test(message))?.[1] };
}

/**
 * @param {string} migration
 * @param {string} cause
 */
function failedMigration(migration, cause) {
  return (
    'A migration failed to apply. New migrations cannot be applied before the error is recovered from. ' +
    'Read more about how to resolve migration issues in a production database: https://pris.ly/d/migrate-resolve\n\n' +
    `Migration name: ${migration}\n\nDatabase error:\n${cause}`
  );
}
