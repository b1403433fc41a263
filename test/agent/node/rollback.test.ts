/** Back to the version before, when a health check of the new one fails (docs/agent.md, `onFailure: "rollback"`). */
import { describe, expect, test } from 'vitest';
import { newDrain } from '../../../agent/node/drain-record.ts';
import type { NodeRecord, StepRecord } from '../../../agent/node/memory.ts';
import type { Move, Seen } from '../../../agent/node/move.ts';
import { recover } from '../../../agent/node/recover.ts';
import { beginRollback } from '../../../agent/node/rollback.ts';
import type { RollbackRecord } from '../../../agent/node/rollback-record.ts';
import type { HeldLock, LockChange } from '../../../agent/updater/version-lock.ts';
import type { UpdateStatus } from '../../../agent/updater/update-status.ts';
import { limits, onTheWay, pending, ran, seen, status, T0 } from './node-record.ts';

const PLAN = { steps: [{ type: 'kubernetes' }], timeoutSeconds: 600, onTimeout: 'abort' } as const;
const drainPlan = { ...PLAN, steps: [...PLAN.steps] };
const monitor = {
  plan: { checks: [], onFailure: 'rollback' },
  nextAt: 0,
  failing: null,
  bootId: 'b2',
  windowMs: null,
} satisfies NodeRecord['monitor'];
const unwell = { reason: 'HealthCheckFailed', message: 'check web failed' };

/** On 2.0.0 in boot b2, on the way to Idle. */
const recovering = (step: Partial<StepRecord> = {}, change: Partial<NodeRecord> = {}): NodeRecord =>
  onTheWay('MonitoringUpdate', 'Idle', step, { bootIdAtStep: 'b1', error: unwell, monitor, ...change });
const now = (change: Partial<Seen> = {}): Seen => seen({ bootId: 'b2', version: '2.0.0', ...change });

describe('a way back begins', () => {
  test('with a failed check: what is to be done is on record before it is', () => {
    const drained = { ...newDrain(drainPlan), startedAt: 1, drainedAt: 2 };
    const record = recovering({ pending: pending('activate'), notBefore: 9 }, { drain: drained, activated: true });
    expect(beginRollback(record, now())).toEqual({
      kind: 'note',
      record: {
        ...record,
        step: { ...record.step, pending: null, notBefore: null },
        rollback: {
          to: '1.0.0',
          startedAt: T0,
          lockBefore: null,
          lockedAt: null,
          refreshed: false,
          trouble: null,
          outcome: null,
        },
        bootIdAtStep: 'b2',
        activated: false,
        drain: newDrain(drainPlan),
      },
    });
  });

  test('without a drain where there was none', () => {
    expect(beginRollback(recovering(), now())).toMatchObject({ kind: 'note', record: { drain: null } });
  });

  test.each<[string, NodeRecord]>([
    ['once only', recovering({}, { rollback: back() })],
    ['on the way to Idle only', { ...recovering(), step: null }],
    ['where the version before is known', recovering({}, { fromVersion: null })],
    ['for no other failure', recovering({}, { error: { reason: 'NoProgress', message: '' } })],
    ['after no success', recovering({}, { error: null })],
    [
      'where its group wants it',
      recovering({}, { monitor: { ...monitor, plan: { checks: [], onFailure: 'report' } } }),
    ],
    ['where there were checks', recovering({}, { monitor: null })],
  ])('%s', (_what, record) => {
    expect(beginRollback(record, now())).toBeNull();
  });
});

function back(change: Partial<RollbackRecord> = {}): RollbackRecord {
  return {
    to: '1.0.0',
    startedAt: T0,
    lockBefore: null,
    lockedAt: T0 - limits.settingsWithinMs,
    refreshed: true,
    trouble: null,
    outcome: null,
    ...change,
  };
}
/** On the way back in boot b2: our lock is set and the refresh under it has succeeded, unless said otherwise. */
const goingBack = (
  step: Partial<StepRecord> = {},
  change: Partial<RollbackRecord> = {},
  more: Partial<NodeRecord> = {},
): NodeRecord => recovering(step, { bootIdAtStep: 'b2', rollback: back(change), ...more });
const locked = (update: Partial<UpdateStatus> | null, change: Partial<Seen> = {}): Seen =>
  now({
    versionLock: '1.0.0',
    update: update === null ? { kind: 'none' } : status({ chosen: '1.0.0', ...update }),
    ...change,
  });
const at = (ms: number) => ({ now: T0 + ms });
const set = (version: string, nextToBoot = false) => ({ staging: { version, nextToBoot } });
const READY = { state: 'Ready', ...set('1.0.0', true) } as const;

/** The move: a command, a lock, or what a note says of the way back. */
function inWords(record: NodeRecord, move: Move): string {
  if (move.kind === 'act') return `act ${move.command}`;
  if (move.kind === 'lock') return sayLock(move.change);
  if (move.kind === 'drain') return `${move.act} ${move.index}`;
  if (move.kind === 'end') return `${move.record.state}: ${move.record.notice ?? ''}`;
  if (move.kind !== 'note') return move.kind;
  const { rollback, drain, step } = move.record;
  if (rollback?.outcome != null) return `over: ${rollback.outcome}`;
  if (rollback?.trouble != null) return `trouble: ${rollback.trouble}, again after ${(step?.notBefore ?? 0) - T0} ms`;
  if (rollback?.refreshed === false && record.rollback?.refreshed === true)
    return `refresh again after ${(step?.notBefore ?? 0) - T0} ms`;
  if (rollback?.refreshed !== record.rollback?.refreshed) return 'refreshed';
  return drain?.startedAt !== record.drain?.startedAt ? 'the drain begins' : 'noted';
}
const sayLock = (change: LockChange): string =>
  change.act === 'hold'
    ? `hold ${change.version} (${change.held.ours.join(', ')}, before: ${change.held.before})`
    : change.act === 'giveBack'
      ? `give back to ${change.version}`
      : 'forget';
const moveOf = (record: NodeRecord, look: Seen): string =>
  record.step === null ? 'no step' : inWords(record, recover(record, record.step, look, limits));

const OURS: HeldLock = { ours: ['1.0.0'], before: 'latest' };

describe('the lock', () => {
  const first = goingBack({}, { refreshed: false, lockedAt: null });
  test.each<[string, NodeRecord, Seen, string]>([
    ['is set to the version before, and it is kept what it was', first, now(), 'hold 1.0.0 (1.0.0, before: latest)'],
    ['also where an owner has set one', first, now({ versionLock: '2.0.0' }), 'hold 1.0.0 (1.0.0, before: 2.0.0)'],
    [
      'also where a pin of the group has: what was there before the pin is what is given back',
      first,
      now({ versionLock: '2.0.0', lockHeld: { ours: ['2.0.0'], before: 'latest' } }),
      'hold 1.0.0 (2.0.0, 1.0.0, before: latest)',
    ],
    ['is waited for while it cannot be read', first, now({ versionLock: null }), 'wait'],
    [
      'is set again where somebody else has set it',
      goingBack(),
      locked({}, { versionLock: 'latest', lockHeld: OURS }),
      'hold 1.0.0 (1.0.0, before: latest)',
    ],
    [
      'of a record of the release before: what it was stands there',
      goingBack({}, { lockBefore: '2.1.0' }),
      locked({}, { versionLock: 'latest' }),
      'hold 1.0.0 (1.0.0, before: 2.1.0)',
    ],
  ])('%s', (_what, record, look, words) => {
    expect(moveOf(record, look)).toBe(words);
  });

  test.each<[string, number | null, string]>([
    ['a refresh that does not see it yet is repeated', T0, 'refresh again after 3000 ms'],
    ['also where nobody had kept when it was set', null, 'refresh again after 3000 ms'],
    ['but not for ever', T0 - 60_000, 'over: 1.0.0 is not offered any more: the node stays on 2.0.0'],
  ])('settings are applied some time after they were taken on: %s', (_what, lockedAt, words) => {
    expect(moveOf(goingBack({}, { lockedAt }), locked({ state: 'Idle', chosen: null }))).toBe(words);
  });
});

describe('under the lock what the update API shows decides what comes next', () => {
  const unrefreshed = goingBack({}, { refreshed: false });
  test.each<[string, NodeRecord, Seen, string]>([
    ['a refresh under the lock comes first', unrefreshed, locked({ chosen: '2.0.0' }), 'act refresh'],
    ['also after a boot (404)', unrefreshed, locked(null), 'act refresh'],
    ['busy is waited out', unrefreshed, locked({}, { update: { kind: 'busy' } }), 'wait'],
    ['an answer that cannot be had is waited for', goingBack(), locked(null), 'wait'],
    ['offered: prepare', goingBack(), locked({}), 'act prepare'],
    ['another version staged: prepare', goingBack(), locked({ state: 'Staged', ...set('2.1.0') }), 'act prepare'],
    ['staged: activate', goingBack(), locked({ state: 'Staged', ...set('1.0.0') }), 'act activate'],
    [
      'another version activated: deactivate',
      goingBack(),
      locked({ state: 'Ready', ...set('2.1.0', true) }),
      'act deactivate',
    ],
    ['activated: reboot', goingBack(), locked(READY), 'act reboot'],
    ['once the guests have ended', goingBack(), locked(READY, { liveVms: 1 }), 'wait'],
    [
      'offered no more: it stays where it is',
      goingBack(),
      locked({ state: 'Idle', chosen: null }),
      'over: 1.0.0 is not offered any more: the node stays on 2.0.0',
    ],
    [
      'also where a leftover names it',
      goingBack(),
      locked({ state: 'Idle' }),
      'over: 1.0.0 is not offered any more: the node stays on 2.0.0',
    ],
    [
      'also where nobody says what runs',
      goingBack(),
      locked({ state: 'Idle' }, { version: null }),
      'over: 1.0.0 is not offered any more: the node stays on its version',
    ],
    ['no command before the next try is due', goingBack({ notBefore: T0 + 1 }), locked({}), 'wait'],
  ])('%s', (_what, record, look, words) => {
    expect(moveOf(record, look)).toBe(words);
  });
});

describe('the drain of the way back', () => {
  const draining = (change: Partial<ReturnType<typeof newDrain>> = {}) =>
    goingBack({}, {}, { drain: { ...newDrain(drainPlan), ...change } });
  test.each<[string, NodeRecord, Partial<Seen>, string]>([
    ['begins once the old version is activated', draining(), {}, 'the drain begins'],
    ['is taken step by step', draining({ startedAt: T0 }), {}, 'survey 0'],
    ['is waited for', draining({ startedAt: T0, notBefore: T0 + 1 }), {}, 'wait'],
    ['comes before the reboot', draining({ startedAt: T0, drainedAt: T0 }), {}, 'act reboot'],
    [
      'that is blocked ends the way back',
      draining({ startedAt: T0, left: ['db'] }),
      at(600_000),
      'over: not drained in 600 s: blocked by db',
    ],
  ])('%s', (_what, record, look, words) => {
    expect(moveOf(record, locked(READY, look))).toBe(words);
  });
});

describe('a command of the way back', () => {
  const sent = (...command: Parameters<typeof pending>) => goingBack({ pending: pending(...command) });
  test.each<[string, NodeRecord, Seen, string]>([
    ['still runs', sent('prepare'), locked({ last: ran('prepare', 'Success', 't0') }), 'wait'],
    ['shows nothing: once more', sent('prepare'), locked({}, at(30_000)), 'act prepare'],
    [
      'a refresh that went well',
      goingBack({ pending: pending('refresh') }, { refreshed: false }),
      locked({ last: ran('refresh') }),
      'refreshed',
    ],
    ['another that went well', sent('prepare'), locked({ last: ran('prepare') }), 'noted'],
    [
      'that failed is tried again later',
      sent('prepare'),
      locked({ last: ran('prepare', 'Failed') }),
      'trouble: prepare failed: exit status 1: why, again after 30000 ms',
    ],
    [
      'that hangs is tried again later',
      sent('prepare', 2),
      locked({}, at(30_000)),
      'trouble: prepare hangs, again after 60000 ms',
    ],
    ['a reboot is waited for', sent('reboot'), locked(READY, at(299_999)), 'wait'],
    ['is asked for once more', sent('reboot'), locked(READY, at(300_000)), 'act reboot'],
    ['and then no more', sent('reboot', 2), locked(READY, at(300_000)), 'over: the reboot into 1.0.0 did not come'],
  ])('%s', (_what, record, look, words) => {
    expect(moveOf(record, look)).toBe(words);
  });
});

describe('the way back ends', () => {
  const booted = (version: string | null) => locked(null, { bootId: 'b3', version });
  const OUTCOME = 'back on 1.0.0';
  test.each<[string, NodeRecord, Seen, string]>([
    [
      'in a new boot of the old version',
      goingBack({ pending: pending('reboot') }),
      booted('1.0.0'),
      `over: ${OUTCOME}`,
    ],
    ['in a new boot of another', goingBack(), booted('2.0.0'), 'over: the rollback to 1.0.0 booted into 2.0.0'],
    ['once /os says which', goingBack(), booted(null), 'wait'],
    [
      'when it has taken as long as a whole update may',
      goingBack(),
      locked({}, at(1_500_000)),
      'over: not back on 1.0.0 in 1500 s: no progress',
    ],
    [
      'and names its last trouble',
      goingBack({}, { trouble: 'prepare hangs' }),
      locked({}, at(1_500_000)),
      'over: not back on 1.0.0 in 1500 s: prepare hangs',
    ],
    [
      'then the lock is given back',
      goingBack({}, { outcome: OUTCOME }),
      { ...booted('1.0.0'), versionLock: '1.0.0', lockHeld: OURS },
      'give back to latest',
    ],
    [
      'as a record of the release before has it',
      goingBack({}, { outcome: OUTCOME, lockBefore: '2.1.0' }),
      { ...booted('1.0.0'), versionLock: '1.0.0' },
      'give back to 2.1.0',
    ],
    [
      'unless somebody else has set it since: then it is theirs',
      goingBack({}, { outcome: OUTCOME }),
      { ...booted('1.0.0'), versionLock: '1.5.0', lockHeld: OURS },
      'forget',
    ],
    [
      'also by an agent that lost its record half way',
      recovering({}, { error: { reason: 'StateLost', message: 'gone' }, monitor: null }),
      now({ versionLock: '1.0.0', lockHeld: OURS }),
      'give back to latest',
    ],
    [
      'which is waited for while it cannot be read',
      goingBack({}, { outcome: OUTCOME }),
      locked(null, { versionLock: null, lockHeld: OURS }),
      'wait',
    ],
    ['and Idle says how it ended', goingBack({}, { outcome: OUTCOME }), now(), `Idle: ${OUTCOME}`],
    [
      'without a lock of before there is none to give back',
      goingBack({}, { outcome: OUTCOME, lockBefore: null }),
      now(),
      `Idle: ${OUTCOME}`,
    ],
  ])('%s', (_what, record, look, words) => {
    expect(moveOf(record, look)).toBe(words);
  });

  test('a boot into the old version is no activation any more', () => {
    const record = goingBack({ pending: pending('reboot') }, {}, { activated: true });
    const move = record.step === null ? null : recover(record, record.step, booted('1.0.0'), limits);
    expect(move).toMatchObject({ kind: 'note', record: { activated: false, step: { pending: null } } });
  });
});
