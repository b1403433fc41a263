import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import SUITES from './test/mutation/suites.json' with { type: 'json' };

/** A mutant is done for with the first test that fails: the quick tests go first. */
class QuickFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => SUITES.findIndex((suite) => moduleId.includes(suite));
    return Promise.resolve([...files].sort((a, b) => rank(a) - rank(b)));
  }
}

/**
 * The suites of `npm run test:mutation` for Stryker's own vitest runner, to check ours against it:
 * `npm run test:mutation -- --testRunner vitest --mutate core/kit/ids.ts`.
 */
export default defineConfig({
  test: {
    include: SUITES.map((suite) => (suite.endsWith('/') ? `${suite}**/*.test.ts` : suite)),
    testTimeout: 20_000,
    sequence: { sequencer: QuickFirst },
  },
});
