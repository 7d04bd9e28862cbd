/** Tests that need PgBouncer: skipped, and said to be, on a machine without it, and a failure where checks must be whole. */
import { findPgBouncer } from '@fencepost/testing';

const MISSING = 'PgBouncer is not installed (Debian: apt-get install pgbouncer)';

const isHere = (await findPgBouncer()) !== undefined;
if (!isHere && process.env['CI']) throw new Error(`${MISSING}, and CI is set: nothing may be skipped`);
if (!isHere) console.warn(`${MISSING}: the tests behind a transaction pooler are skipped`);

/** For `describe.skipIf`. */
export const pgBouncerIsMissing = !isHere;
