/** Where the repository is, and its ignored folder for everything that runs leave behind. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** Ignored by git; safe to delete while nothing runs. */
export const dataFolder = join(repositoryRoot, '.data');
