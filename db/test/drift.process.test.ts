/** The migrations make what the schema says: what a database gets by deploying is what the client was generated for. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestDatabase } from '@fencepost/testing';
import { beforeAll, expect, it } from 'vitest';
import { packageFolder, prisma } from './support/prisma.ts';

let url: string;
beforeAll(async () => {
  ({ url } = await createTestDatabase());
});

function diff(schema: string) {
  const args = ['--from-migrations', 'prisma/migrations', '--to-schema', schema, '--exit-code'];
  return prisma(url, 'migrate', 'diff', ...args);
}

it('the migrations lead to the schema', async () => {
  const { code, stdout, stderr } = await diff('prisma');
  expect({ code, output: stdout + stderr }).toEqual({
    code: 0,
    output: expect.stringContaining('No difference detected'),
  });
});

it('a column that no migration makes is seen', async () => {
  await mkdir(join(packageFolder, '.data'), { recursive: true });
  const folder = await mkdtemp(join(packageFolder, '.data/drift-'));
  try {
    await cp(join(packageFolder, 'prisma'), folder, { recursive: true });
    const file = join(folder, 'job_queue.prisma');
    const schema = await readFile(file, 'utf8');
    await writeFile(file, schema.replace('model JobQueue {', 'model JobQueue {\n  forgotten Int?'));
    const { code, stdout } = await diff(folder);
    expect({ code, stdout }).toEqual({
      code: 2,
      stdout: expect.stringContaining('Added column `forgotten`'),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
