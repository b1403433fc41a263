/** Reports of other projects' users about VMs, retold: each scenario of `reports` has the right values in it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { runScenario } from '../../world/simulate/run.ts';
import { readScenario } from '../../world/simulate/scenario.ts';

const folder = resolve(import.meta.dirname, 'reports');

test.each(readdirSync(folder).filter((file) => file.endsWith('.json')))('%s passes', async (file) => {
  const scenario = readScenario(readFileSync(join(folder, file), 'utf8'));
  expect(scenario.steps.some((step) => step.expect !== undefined)).toBe(true);
  expect((await runScenario(scenario)).failures).toEqual([]);
});
