// @ts-nocheck
import { defineConfig } from 'vitest/config';

/** One run for everything under test/; coverage only when asked for (`npm run test:coverage`). */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['core/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'coverage',
      thresholds: { lines: 90, branches: 85 },
    },
  },
});
