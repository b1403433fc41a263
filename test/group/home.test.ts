/** Which table a deployment lives in, and its recovery after a restore (docs/runbooks/restore.md). */
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../core/decision/fact.ts';
import { decideGroup, type GroupEvent } from '../../core/group/group.ts';
import { type GroupRecord, newGroup } from '../../core/group/record.ts';
import { pausedByRecovery, standing } from '../../core/group/home.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import { at, iso } from '../node/life.ts';

const PAUSER = `the recovery of ${iso(0)} (ann)`;
const BEGUN = { at: at(0), by: 'ann', finishedAt: null };
const DONE = { ...BEGUN, finishedAt: at(60) };

const group = (more: Partial<GroupRecord> = {}): GroupRecord => ({ ...newGroup(DEFAULT_GROUP), ...more });
const decide = (before: GroupRecord | null, event: GroupEvent, seconds = 0): Outcome<GroupRecord> =>
  decideGroup(before, DEFAULT_GROUP, event, at(seconds));
const recover = (table: string, force = false): GroupEvent => ({ kind: 'recover', by: 'ann', table, force });
const begun = (message: string) => ({ kind: 'event', type: 'Recovery Begun', severity: 'warning', message });

describe('the table is', () => {
  test.each<[string, Partial<GroupRecord> | null, 'home' | 'new' | 'restored']>([
    ['new when nothing is known of it', null, 'new'],
    ['new when none was written down', {}, 'new'],
    ['home when it has the name that was written down', { home: 'live' }, 'home'],
    ['restored when it has another one', { home: 'old' }, 'restored'],
    ['restored until its recovery is finished', { home: 'live', recovery: BEGUN }, 'restored'],
    ['restored until its recovery is finished, also without a name', { recovery: BEGUN }, 'restored'],
    ['home again when the recovery is finished', { home: 'live', recovery: DONE }, 'home'],
    ['restored when that of which it is a copy was once recovered', { home: 'old', recovery: DONE }, 'restored'],
  ])('%s', (_what, known, where) => {
    expect(standing(known === null ? null : group(known), 'live')).toBe(where);
  });
});

test('a new deployment writes its table down, once', () => {
  expect(decide(null, { kind: 'moveIn', table: 'live' })).toEqual({
    kind: 'changed',
    next: group({ revision: 1, home: 'live' }),
    facts: [],
  });
  expect(decide(group({ home: 'old' }), { kind: 'moveIn', table: 'live' })).toEqual({ kind: 'unchanged' });
});

describe('a recovery begins', () => {
  test.each<[string, Partial<GroupRecord>, GroupEvent, string]>([
    ['of a copy of another table', { home: 'old' }, recover('live'), ' of old'],
    ['of a table restored under its own name, by force', { home: 'live' }, recover('live', true), ''],
    ['of a table without a name, by force', {}, recover('live', true), ''],
    ['once more of a copy that knows an earlier one', { home: 'old', recovery: DONE }, recover('live'), ' of old'],
    ['once more by force', { home: 'live', recovery: DONE }, recover('live', true), ''],
  ])('%s: the group is paused by it', (_what, before, event, from) => {
    const outcome = decide(group(before), event);
    expect(outcome).toMatchObject({
      kind: 'changed',
      next: { ...before, revision: 1, recovery: BEGUN, pausedBy: PAUSER },
      facts: [begun(`the table is an older copy${from}; begun by ann`)],
    });
  });

  test('and leaves a pause of somebody else as it is', () => {
    expect(decide(group({ home: 'old', pausedBy: 'ben' }), recover('live'))).toMatchObject({
      next: { pausedBy: 'ben' },
    });
  });

  test('only where a table was restored, unless forced', () => {
    for (const before of [{ home: 'live' }, {}])
      expect(decide(group(before), recover('live'))).toEqual({
        kind: 'refused',
        refusal: {
          status: 409,
          code: 'NotRestored',
          detail:
            'table live was not restored from a copy of another one; if it was restored under its own name, say force',
        },
      });
  });

  test('once: asked again it goes on, and when it is finished nothing changes', () => {
    const unchanged = { kind: 'unchanged' };
    expect(decide(group({ home: 'old', recovery: BEGUN }), recover('live'))).toEqual(unchanged);
    expect(decide(group({ home: 'old', recovery: BEGUN }), recover('live', true))).toEqual(unchanged);
    expect(decide(group({ home: 'live', recovery: DONE }), recover('live'))).toEqual(unchanged);
  });
});

describe('a recovery is finished', () => {
  const finish: GroupEvent = { kind: 'recovered', table: 'live' };

  test('and the table is home', () => {
    const message = 'all groups are paused; resume each when its nodes have reported';
    const event = { type: 'Recovery Finished', severity: 'info', message };
    expect(decide(group({ home: 'old', recovery: BEGUN, pausedBy: PAUSER }), finish, 60)).toEqual({
      kind: 'changed',
      next: group({
        revision: 1,
        home: 'live',
        recovery: DONE,
        pausedBy: PAUSER,
        events: [{ id: 'group/default/1', at: at(60), type: 'Recovery Finished', severity: 'info', message }],
      }),
      facts: [{ kind: 'event', ...event }],
    });
  });

  test('once, and only after it began', () => {
    expect(decide(group({ home: 'old' }), finish)).toEqual({ kind: 'unchanged' });
    expect(decide(group({ home: 'live', recovery: DONE }), finish)).toEqual({ kind: 'unchanged' });
  });
});

describe('a group that the copy did not know', () => {
  test.each<[string, Partial<GroupRecord> | null, string | null]>([
    ['begins paused while default is paused by the recovery', { recovery: DONE, pausedBy: PAUSER }, PAUSER],
    ['begins as ever once default was resumed', { recovery: DONE }, null],
    ['begins as ever when somebody else has paused default', { recovery: DONE, pausedBy: 'ben' }, null],
    ['begins as ever without a recovery', { pausedBy: PAUSER }, null],
    ['begins as ever in a new deployment', null, null],
  ])('%s', (_what, known, pausedBy) => {
    const by = pausedByRecovery(known === null ? null : group(known));
    expect(by).toBe(pausedBy);
    expect(decide(null, { kind: 'ensure', pausedBy: by })).toMatchObject({ next: { pausedBy } });
  });
});
