/**
 * The arrows: apps → packages/jobs → packages/queue → db (types only), and inside the queue store → core → nothing.
 * An arrow that is not drawn here is an error, as is a cycle.
 */
const notTypeOnly = { dependencyTypesNot: ['type-only'] };

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'An import leads nowhere: a typing error, or a package that nobody installed.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared',
      comment: 'What a package imports stands in its own package.json.',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/|^db/(src|engine)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'] },
    },
    {
      name: 'core-is-pure',
      comment:
        'The state machine, the decisions and the codecs import nothing: no I/O, no clock, no random numbers.',
      severity: 'error',
      from: { path: '^packages/queue/src/core/' },
      to: { pathNot: '^packages/queue/src/core/' },
    },
    {
      name: 'store-knows-only-core',
      comment: 'And the error classes, which know nothing.',
      severity: 'error',
      from: { path: '^packages/queue/src/store/' },
      to: { pathNot: '^packages/queue/src/(store/|core/|errors\\.ts)', ...notTypeOnly },
    },
    {
      name: 'errors-know-nothing',
      severity: 'error',
      from: { path: '^packages/queue/src/errors\\.ts' },
      to: {},
    },
    {
      name: 'queue-is-below-everything',
      comment:
        'Any project with the model of job_queue.prisma can use the queue, whatever its client is generated from.',
      severity: 'error',
      from: { path: '^packages/queue/src/' },
      to: { path: '^(apps|scripts|packages/(?!queue/))' },
    },
    {
      name: 'queue-knows-db-by-type',
      severity: 'error',
      from: { path: '^packages/queue/src/' },
      to: { path: '^db/', ...notTypeOnly },
    },
    {
      name: 'jobs-are-contracts',
      comment: 'Contracts are shared by web and worker: no handlers, no database.',
      severity: 'error',
      from: { path: '^packages/jobs/src/' },
      to: { path: '^(apps|scripts|db|packages/(?!jobs/|queue/))' },
    },
    {
      name: 'db-is-the-bottom',
      severity: 'error',
      from: { path: '^db/(src|engine|prisma)' },
      to: { path: '^(apps|scripts|packages)/' },
    },
    {
      name: 'packages-not-to-apps',
      severity: 'error',
      comment: 'But the benchmarks, which measure the worker.',
      from: { path: '^packages/', pathNot: '^packages/bench/' },
      to: { path: '^(apps|scripts)/' },
    },
    {
      name: 'apps-are-apart',
      comment: 'Web and worker are processes of their own and share only packages.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'testing-only-for-tests-and-scripts',
      severity: 'error',
      from: { pathNot: '^packages/testing/|^scripts/|/(test|bench|soak)/' },
      to: { path: '^packages/testing/' },
    },
    {
      name: 'not-to-tests',
      severity: 'error',
      from: { pathNot: '/(test|bench|soak)/' },
      to: { path: '/(test|bench|soak)/' },
    },
    {
      name: 'by-name-across-packages',
      comment: 'A package uses another by its name and its exports, not by a path into it.',
      severity: 'error',
      from: { path: '^(db|(?:packages|apps)/[^/]+)/' },
      to: { path: '^(db|packages|apps)/', pathNot: '^$1/', dependencyTypes: ['local'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // What the comparison with other queues imports is not installed by default.
    exclude: { path: '/(dist|generated)/|^packages/bench/(?!portable/|fleet/)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@fencepost/source', 'import', 'node', 'default', 'types'],
    },
  },
};
