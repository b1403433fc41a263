import { defineConfig } from 'vitest/config';

/** Tests that start processes, or wait for timers and sockets, most of their time. */
const WAITING = [
  'test/agent/*.test.ts',
  'test/agent/sabotage/*.test.ts',
  'test/local/*.test.ts',
  'test/qemu/*.test.ts',
  'test/system/*.test.ts',
];

/**
 * Everything under test/ is one of two projects, which `npm test` runs side by side: tests that compute, as many files at
 * once as there are cores and without a fresh process for each; and tests that wait, many at once whatever the cores are.
 * Coverage of the core only when asked for, of those that compute.
 */
export default defineConfig({
  test: {
    // Nothing is measured by it: a busy machine may take its time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['core/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'coverage',
      thresholds: { lines: 90, branches: 85 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'computing',
          include: ['test/**/*.test.ts'],
          exclude: ['node_modules/**', 'test/browser/**', ...WAITING],
          isolate: false,
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'waiting',
          include: WAITING,
          maxWorkers: 6,
          sequence: { groupOrder: 1 },
        },
      },
      // A real browser and a real control plane: `npm run test:browser`.
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
