/** Brings a database to the present schema the way a deployment does: `prisma migrate deploy`. */
import { join } from 'node:path';
import { TestDatabaseError } from '../errors.ts';
import { repositoryRoot } from '../repository.ts';
import { runCommand } from '../run-command.ts';
import { withoutPassword } from './url.ts';

/** @throws TestDatabaseError with everything that Prisma said */
export async function migrateDeploy(url: string): Promise<void> {
  const { code, output } = await runCommand(process.execPath, ['engine/prisma.mjs', 'migrate', 'deploy'], {
    cwd: join(repositoryRoot, 'db'),
    env: { ...process.env, DATABASE_URL: url },
  });
  if (code !== 0) throw new TestDatabaseError(`migrating ${withoutPassword(url)} failed:\n${output}`);
}
