// @ts-nocheck
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The pure suites in the order in which they run: the quick ones first, simulated worlds and properties last. */
const SUITES = [
  'test/cases/',
  'test/seeds/kubevirt',
  'test/spec/core/',
  'test/cli/present',
  'test/cli/text',
  'test/cli/events',
  'test/seeds/brupop',
  'test/spec/',
  'test/api/',
  'test/scenarios/',
  'test/properties/',
];

/** A mutant is done for with the first test that fails: the quick tests go first. */
class QuickFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => SUITES.findIndex((suite) => moduleId.includes(suite));
    return Promise.resolve([...files].sort((a, b) => rank(a) - rank(b)));
  }
}

/** What `npm run test:mutation` runs for each mutant; properties with a fixed seed and a tenth of their runs. */
export default defineConfig({
  test: {
    include: SUITES.map((suite) => `${suite}${suite.endsWith('/') ? '**/*' : ''}.test.ts`),
    testTimeout: 20_000,
    sequence: { sequencer: QuickFirst },
    env: { HOLDOFF_PROPERTIES: 'few' },
  },
});
