/** The double of a Bottlerocket host, and the script driver, refuse what the real updater refuses, in its order (facts, section 6). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createBottlerocketDriver } from '../../agent/updater/bottlerocket.ts';
import { freshRecord } from '../../agent/updater/script/record.ts';
import { whyNot } from '../../agent/updater/script/outcome.ts';
import { afterBoot, imageOf, refusalOf, type UpdateState } from '../../local/machine/update-state.ts';

type Row = {
  state: UpdateState;
  chosenUpdate: boolean;
  stagingPartition: boolean;
  command: 'prepare' | 'activate' | 'deactivate';
  http: number;
};
// Written down from the real binary; its columns are checked by the count of the rows that are compared.
const { rows } = JSON.parse(readFileSync(join(import.meta.dirname, 'bottlerocket-refusals.json'), 'utf8')) as {
  rows: Row[];
};
const DISK = { active: '1.0.0', inactive: null, nextBootInactive: false, versionLock: 'latest' };

test('a host without that API says which settings it needs', async () => {
  const driver = createBottlerocketDriver('/nowhere/api.sock', 1000);
  const view = await driver.look();
  expect('message' in view && view.message).toMatch(/HOLDOFF_DRIVER=script and HOLDOFF_SCRIPTS/);
});

test('all 48 cases are there', () => {
  expect(rows).toHaveLength(48);
});

describe.each(rows)('$state, chosen $chosenUpdate, staged $stagingPartition: $command', (row) => {
  const { state, chosenUpdate, stagingPartition, command, http } = row;

  test(`the double answers ${http}`, () => {
    const status = {
      ...afterBoot(DISK),
      update_state: state,
      chosen_update: chosenUpdate ? imageOf('2.0.0') : null,
      staging_partition: stagingPartition ? { image: imageOf('2.0.0'), next_to_boot: state === 'Ready' } : null,
    };
    expect(refusalOf(command, status)?.status ?? 204).toBe(http);
  });

  test('and so does the script driver', () => {
    const record = { chosen: chosenUpdate ? '2' : null, staged: stagingPartition ? '2' : null };
    const status = whyNot({ ...freshRecord('b1', null), state, ...record }, command)?.status ?? 204;
    // The one exception: what is active is taken back also where the record that knew what it is was lost.
    const lost = command === 'deactivate' && state === 'Ready' && !stagingPartition;
    expect(status).toBe(lost ? 204 : http);
  });
});
