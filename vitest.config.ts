/**
 * Two groups of test files, both on a real Postgres: `parallel`, and after it `processes` (`*.process.test.ts`), one
 * file at a time, because those kill processes and measure deadlines.
 */
import { defineConfig } from 'vitest/config';

const folders = [
  'db/test',
  'packages/*/test',
  'packages/bench/{portable,fleet}/test',
  'apps/*/test',
  'scripts/test',
];
const processTests = folders.map((folder) => `${folder}/**/*.process.test.ts`);

// Packages import each other's source, so that no test runs against a build of yesterday.
const conditions = ['@fencepost/source'];

const shared = {
  setupFiles: ['packages/testing/src/vitest/setup.ts'],
  pool: 'forks' as const,
  hookTimeout: 60_000,
};
const resolution = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
};

export default defineConfig({
  test: {
    globalSetup: ['packages/testing/src/vitest/global-setup.ts'],
    projects: [
      {
        ...resolution,
        test: {
          ...shared,
          name: 'parallel',
          include: folders.map((folder) => `${folder}/**/*.test.ts`),
          exclude: processTests,
          testTimeout: 30_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...resolution,
        test: {
          ...shared,
          name: 'processes',
          include: processTests,
          testTimeout: 120_000,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
