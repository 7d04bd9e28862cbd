/**
 * Scratch copies of the repository, beside it and not in it, each for one fault at a time. Packages find each other
 * by relative links, so that the packages of a copy use those of the same copy; what comes from npm is linked, not copied.
 */
import { chmod, cp, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { repositoryRoot, whenThisProcessIsGone } from '@fencepost/testing';

export interface Copies {
  readonly roots: readonly string[];
  readonly remove: () => Promise<void>;
}

export async function makeCopies(count: number): Promise<Copies> {
  // By its real name, because that is how a test runner finds its files; /tmp is a link on some machines.
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'fencepost-mutants-'));
  // An embedded Postgres of a test's own runs as another user where root runs the tests.
  await chmod(folder, 0o755);
  const callOffCleanup = whenThisProcessIsGone({ remove: [folder] });
  const remove = async () => {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    callOffCleanup();
  };
  try {
    const roots = Array.from({ length: count }, (_, index) => join(folder, String(index + 1)));
    for (const root of roots) await copyRepository(root);
    return { roots, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** What is fetched, built or left behind by runs. */
const LEFT_OUT = new Set(['.git', '.data', '.turbo', '.vite', '.pnpm', 'dist']);

async function copyRepository(target: string): Promise<void> {
  await cp(repositoryRoot, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !LEFT_OUT.has(basename(source)),
  });
  await symlink(join(repositoryRoot, 'node_modules/.pnpm'), join(target, 'node_modules/.pnpm'));
}
