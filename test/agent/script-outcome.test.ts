/** The script driver's own table: what each script's end makes of the record, and what cannot be asked for. */
import { describe, expect, test } from 'vitest';
import { COMMANDS, type CommandName } from '../../agent/updater/driver.ts';
import { afterRun, whyNot } from '../../agent/updater/script/outcome.ts';
import { freshRecord, type ScriptRecord } from '../../agent/updater/script/record.ts';

const AT = '2026-01-05T00:00:00.000Z#1';
const at = (more: Partial<ScriptRecord>): ScriptRecord => ({ ...freshRecord('b1', null), ...more });
const running = (name: CommandName, more: Partial<ScriptRecord> = {}, version: string | null = '2'): ScriptRecord =>
  at({ ...more, running: { id: `${name}-1`, name, version, startedAt: 0, since: 0, process: null } });
const ok = (out = ''): { failure: null; out: string } => ({ failure: null, out });

describe('a script that ended with 0', () => {
  test.each([
    ['a check that prints a version offers it', running('refresh'), ok('2\nmore'), { state: 'Available', chosen: '2' }],
    [
      'a check that prints nothing offers nothing',
      running('refresh', { state: 'Available', chosen: '2' }),
      ok(),
      { state: 'Idle', chosen: null },
    ],
    [
      'a check that prints the running version offers nothing',
      running('refresh'),
      ok('1'),
      { state: 'Idle', chosen: null },
    ],
    [
      'what is staged stays staged while it is offered',
      running('refresh', { state: 'Staged', staged: '2' }),
      ok('2'),
      { state: 'Staged', chosen: '2', staged: '2' },
    ],
    [
      'what is staged is not what is offered any more',
      running('refresh', { state: 'Staged', staged: '2' }),
      ok('3'),
      { state: 'Available', chosen: '3' },
    ],
    [
      'what is active stays active, whatever is offered',
      running('refresh', { state: 'Ready', staged: '2' }),
      ok(),
      { state: 'Ready', chosen: null, staged: '2' },
    ],
    [
      'prepare stages the version it was asked for',
      running('prepare', { state: 'Available', chosen: '3' }),
      ok(),
      { state: 'Staged', staged: '2' },
    ],
    [
      'activate makes it ready',
      running('activate', { state: 'Staged', staged: '2' }),
      ok(),
      { state: 'Ready', staged: '2' },
    ],
    [
      'deactivate takes that back',
      running('deactivate', { state: 'Ready', staged: '2' }),
      ok(),
      { state: 'Staged', staged: '2' },
    ],
    [
      'reboot changes nothing of it',
      running('reboot', { state: 'Ready', staged: '2' }),
      ok(),
      { state: 'Ready', staged: '2' },
    ],
  ] as const)('%s', (_what, before, ended, after) => {
    expect(afterRun(before, ended, '1', AT)).toMatchObject({
      ...after,
      running: null,
      last: { status: 'Success', timestamp: AT },
    });
  });
});

test('an activation that failed stands as active until it is taken back: how far it came nobody knows', () => {
  const before = running('activate', { state: 'Staged', chosen: '2', staged: '2' });
  expect(afterRun(before, { failure: 'ended with 3', out: '' }, '1', AT)).toMatchObject({
    state: 'Ready',
    last: { status: 'Failed' },
  });
});

test.each(COMMANDS.filter((name) => name !== 'activate'))(
  'a %s that failed changes nothing but what is said of it',
  (name) => {
    const before = running(name, { state: 'Staged', chosen: '2', staged: '2' });
    expect(afterRun(before, { failure: 'ended with 3: no route', out: 'x' }, '1', AT)).toEqual({
      ...before,
      running: null,
      last: { type: name, status: 'Failed', timestamp: AT, detail: 'ended with 3: no route' },
    });
  },
);

test('without a run there is nothing to take in', () => {
  const record = at({});
  expect(afterRun(record, ok(), '1', AT)).toBe(record);
});

test.each([
  ['refresh', {}, null],
  ['reboot', {}, null],
  ['prepare', {}, 409],
  ['prepare', { state: 'Available' }, 404],
  ['prepare', { chosen: '2', state: 'Available' }, null],
  ['prepare', { chosen: '2', state: 'Ready' }, 409],
  ['activate', {}, 409],
  ['activate', { state: 'Staged' }, 404],
  ['activate', { state: 'Staged', staged: '2' }, null],
  ['activate', { state: 'Ready', staged: '2' }, 409],
  ['deactivate', { state: 'Staged', staged: '2' }, 409],
  ['deactivate', { state: 'Ready', staged: '2' }, null],
] as const)('%s with %j is refused with %j', (name, record, status) => {
  expect(whyNot(at(record), name)?.status ?? null).toBe(status);
});

test('a boot forgets what was staged, and keeps the lock and the count', () => {
  const before = at({ state: 'Ready', staged: '2', chosen: '2', runs: 7, versionLock: '1' });
  expect(freshRecord('b2', before)).toEqual({ ...freshRecord('b2', null), runs: 7, versionLock: '1' });
});
