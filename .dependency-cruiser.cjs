// Import directions (DESIGN, "Shape of the repository"). test/architecture proves that these rules can fail.

const pathOf = (...folders) => `^(?:${folders.join('|')})/`;
const OURS = [
  'core',
  'functions',
  'client',
  'present',
  'world',
  'agent',
  'cli',
  'console',
  'local',
  'infra',
  'test',
  'bench',
];

/** `from` may import, of our own code, only what `to` matches. */
const only = (from, to, comment, extra = {}) => ({
  name: `${from}-direction`,
  comment,
  severity: 'error',
  from: { path: pathOf(from), ...extra },
  to: { path: pathOf(...OURS), pathNot: to },
});

/** The one file of cli/ that may reach into local/: it runs the real control plane on a virtual clock. */
const SIMULATE_COMMAND = '^cli/commands/(?:simulate|what-if)\\.ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    only('core', pathOf('core'), 'core is pure: it knows nobody.'),
    only('functions', pathOf('functions', 'core'), 'The shell knows the core.'),
    only('client', pathOf('client', 'core'), 'The client of the API knows the contract, and nobody who uses it.'),
    only('present', pathOf('present', 'core'), 'Words and tables are made of answers.'),
    only('agent', pathOf('agent', 'client', 'core'), 'The agent shares the contract, not the control plane.'),
    only('cli', pathOf('cli', 'client', 'present', 'core'), 'The CLI is a client of the API.', {
      pathNot: SIMULATE_COMMAND,
    }),
    only('console', pathOf('console', 'client', 'present', 'core'), 'The page is a client of the API.'),
    {
      name: 'cli-simulate-exception',
      comment:
        'The single exception: what runs on a virtual clock (`simulate`, `what-if`) may use world/simulate and world/forecast, and nothing else of the control plane.',
      severity: 'error',
      from: { path: SIMULATE_COMMAND },
      to: {
        path: pathOf('functions', 'agent', 'local', 'world', 'infra', 'test', 'bench'),
        pathNot: '^world/(?:simulate(?:/|\\.ts$)|forecast/)',
      },
    },
    only('world', pathOf('world', 'functions', 'core'), 'The virtual world runs the handlers that are deployed.'),
    only(
      'local',
      pathOf('local', 'functions', 'client', 'present', 'core'),
      'The embedded AWS runs the handlers that are deployed.',
    ),
    {
      name: 'local-machine-alone',
      comment: 'local/machine is a host, not the embedded AWS: it shares nothing with it.',
      severity: 'error',
      from: { path: '^local/machine/' },
      to: { path: pathOf('local', 'functions'), pathNot: '^local/machine/' },
    },
    only('infra', pathOf('infra', 'functions', 'core'), 'infra knows functions as entry paths and the names in core.'),
    {
      name: 'core-packages',
      comment: 'core may use zod (as zod/mini) and croner, no other package and no Node module.',
      severity: 'error',
      from: { path: pathOf('core') },
      to: { pathNot: [pathOf(...OURS), '(?:^|node_modules/)(?:zod|croner)(?:/|$)'] },
    },
    {
      name: 'no-circular',
      comment: 'A cycle is two modules that are one.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-import-of-tests',
      comment: 'Nothing outside test/ imports a test.',
      severity: 'error',
      from: { pathNot: pathOf('test') },
      to: { path: pathOf('test') },
    },
    {
      name: 'not-to-unresolvable',
      comment: 'An import that cannot be resolved is an import that no rule can judge.',
      severity: 'error',
      from: {},
      // aws-lambda is types only: @types/aws-lambda has no module of that name behind it.
      to: { couldNotResolve: true, pathNot: '^aws-lambda$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(?:cdk\\.out|coverage|dist)/' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  },
};
