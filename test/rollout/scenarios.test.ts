/** The worked scenarios of rollouts (docs/scenarios/rollouts): each gate shut and opened, on the real control plane. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runScenario } from '../../world/simulate/run.ts';
import { readScenario } from '../../world/simulate/scenario.ts';

const folder = join(import.meta.dirname, '../../docs/scenarios/rollouts');

test.each(readdirSync(folder))('%s', async (file) => {
  const scenario = readScenario(readFileSync(join(folder, file), 'utf8'));
  expect(scenario.steps.some((step) => step.expect !== undefined)).toBe(true);
  const { failures } = await runScenario(scenario);
  expect(failures).toEqual([]);
});
