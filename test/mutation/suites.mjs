/** The pure suites in the order in which they run: the quick ones first, simulated worlds and properties last. */
export const SUITES = [
  'test/cases/',
  'test/seeds/kubevirt.test.ts',
  'test/spec/core/',
  'test/cli/present.test.ts',
  'test/cli/text.test.ts',
  'test/cli/events.test.ts',
];

/** Where in that order a test file stands; -1 when it is not of a pure suite. */
export const suiteOf = (path) => SUITES.findIndex((suite) => path.startsWith(suite));
