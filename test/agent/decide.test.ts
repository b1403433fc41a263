import { describe, expect, test } from 'vitest';
import { absorb } from '../../agent/node/absorb.ts';
import { decide, mayAct } from '../../agent/node/decide.ts';
import { type Memory, newRecord, type NodeRecord, type StepRecord } from '../../agent/node/memory.ts';
import type { Seen } from '../../agent/node/move.ts';
import type { UpdateStatus } from '../../agent/updater/update-status.ts';
import type { DesiredNode } from '../../core/contract/agent-answers.ts';
import type { SpecState } from '../../core/contract/words.ts';
import { limits, onTheWay, pending, ran, seen, status, T0 } from './node/node-record.ts';

const want = (state: SpecState, generation: number): DesiredNode => ({ state, version: null, generation });
const kept = (record: NodeRecord): Memory => ({ kind: 'kept', record });

const staged = { version: '2.0.0', nextToBoot: false };
const ready = { version: '2.0.0', nextToBoot: true };
const idle = newRecord(1);
/** The move in a word: its kind, the command, the error's reason or the state reached. */
function inWords(record: NodeRecord, look: Seen): string {
  const move = decide(kept(record), null, look, limits);
  if (move.kind === 'act') return `act ${move.command}`;
  if (move.kind === 'end') return move.record.error?.reason ?? `reached ${move.record.state}`;
  return move.kind;
}

describe('what begins a step', () => {
  test('a newer generation, recorded before anything is done', () => {
    const move = decide(kept(idle), want('StagedUpdate', 2), seen(), limits);
    expect(move).toMatchObject({
      kind: 'note',
      record: {
        generation: 2,
        state: 'Idle',
        fromVersion: '1.0.0',
        bootIdAtStep: 'b1',
        step: { target: 'StagedUpdate' },
      },
    });
  });

  test.each([1, 0])('not generation %i, which has been handled', (generation) => {
    expect(decide(kept(idle), want('StagedUpdate', generation), seen(), limits)).toEqual({ kind: 'rest' });
    expect(mayAct(kept(idle), want('StagedUpdate', generation), T0)).toBe(false);
  });

  test.each(['PerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate'] as const)(
    '%s out of sequence is a failure that says so, and acts on nothing',
    (state) => {
      const move = decide(kept(idle), want(state, 2), seen(), limits);
      expect(move).toMatchObject({
        kind: 'end',
        record: { generation: 2, state: 'Idle', error: { reason: 'OutOfSequence' } },
      });
    },
  );

  test('without a record only Idle, or the first step of a node that never had one', () => {
    const lost: Memory = { kind: 'lost', why: 'gone' };
    const fresh: Memory = { kind: 'fresh' };
    expect(decide(lost, want('StagedUpdate', 2), seen(), limits)).toEqual({ kind: 'rest' });
    expect(decide(fresh, want('PerformedUpdate', 3), seen(), limits)).toEqual({ kind: 'rest' });
    expect(decide(fresh, want('StagedUpdate', 2), seen(), limits).kind).toBe('note');
    expect(decide(lost, want('Idle', 4), seen(), limits)).toMatchObject({
      kind: 'note',
      record: { activated: true, error: { reason: 'StateLost' } },
    });
  });
});

type Step = Partial<StepRecord>;
const stage = (step: Step = {}) => onTheWay('Idle', 'StagedUpdate', step);
const activate = (step: Step = {}) => onTheWay('StagedUpdate', 'PerformedUpdate', step);
const reboot = (step: Step = {}) => onTheWay('PerformedUpdate', 'RebootedIntoUpdate', step);
const recover = (step: Step = {}) => onTheWay('PerformedUpdate', 'Idle', step, { activated: true });
const fresh = { refreshed: true };
const sent = (...command: Parameters<typeof pending>): Step => ({ pending: pending(...command) });

const offered = (last: UpdateStatus['last'] = null) => ({ update: status({ last }) });
const isStaged = (last: UpdateStatus['last'] = null, version = '2.0.0') => ({
  update: status({ state: 'Staged', staging: { ...staged, version }, last }),
});
const isReady = (last: UpdateStatus['last'] = null, version = '2.0.0') => ({
  update: status({ state: 'Ready', staging: { ...ready, version }, last }),
});
const busy = { update: { kind: 'busy' } } as const;
const unreadable = { update: { kind: 'unparseable', message: '?' } } as const;
const newBoot = (version: string | null) => ({ bootId: 'b2', version });
const at = (ms: number) => ({ now: T0 + ms });

describe('each step: what is on record × what is seen → the move', () => {
  test.each<[string, NodeRecord, Partial<Seen>, string]>([
    ['staging begins with a refresh', stage(), offered(), 'act refresh'],
    ['also after a boot (404)', stage(), {}, 'act refresh'],
    ['busy is waited out', stage(), busy, 'wait'],
    ['busy to the deadline', stage(), { ...busy, ...at(600_000) }, 'LockTimeout'],
    ['unreadable to the deadline', stage(fresh), { ...unreadable, ...at(600_000) }, 'Unparseable'],
    ['the old timestamp is not success', stage(sent('prepare')), offered(ran('prepare', 'Success', 't0')), 'wait'],
    ['nor is another command', stage(sent('prepare')), offered(ran('refresh')), 'wait'],
    ['no progress: once more', stage(sent('prepare')), { ...offered(), ...at(30_000) }, 'act prepare'],
    ['and then no more', stage(sent('prepare', 2)), { ...offered(), ...at(30_000) }, 'NoProgress'],
    ['a failed refresh is no crash', stage(sent('refresh')), offered(ran('refresh', 'Failed')), 'note'],
    ['and is retried later', stage({ refreshFailure: 'x', notBefore: T0 + 5 }), offered(), 'wait'],
    ['until the deadline', stage({ refreshFailure: 'x' }), { ...offered(), ...at(600_000) }, 'RefreshFailed'],
    ['nothing offered', stage(fresh), { update: status({ state: 'Idle' }) }, 'NothingOffered'],
    ['offered', stage(fresh), offered(), 'act prepare'],
    ['staged before: prepared again', stage(fresh), isStaged(), 'act prepare'],
    ['activated before: taken as it is', stage(fresh), isReady(), 'reached StagedUpdate'],
    ['another one activated', stage(fresh), isReady(null, '1.9.0'), 'act deactivate'],
    ['a failed prepare', stage(sent('prepare')), offered(ran('prepare', 'Failed')), 'PrepareFailed'],
    ['prepared', stage(sent('prepare')), isStaged(ran('prepare')), 'reached StagedUpdate'],
    ['"success" that staged nothing', stage(sent('prepare')), offered(ran('prepare')), 'PrepareFailed'],
    ['a boot in between: again', stage(fresh), newBoot('1.0.0'), 'note'],
    ['activation', activate(), isStaged(), 'act activate'],
    ['of the set that was staged', activate(), isStaged(null, '2.1.0'), 'VersionMoved'],
    ['nothing staged', activate(), offered(), 'NotStaged'],
    ['a failed activation', activate(sent('activate')), isStaged(ran('activate', 'Failed')), 'ActivateFailed'],
    ['activated', activate(sent('activate')), isReady(ran('activate')), 'reached PerformedUpdate'],
    ['a reboot before activation', activate(), newBoot('1.0.0'), 'UnexpectedReboot'],
    ['a reboot into it: to be proved', activate(sent('activate')), newBoot('2.0.0'), 'reached PerformedUpdate'],
    ['the reboot waits for the guests', reboot(), { ...isReady(), liveVms: 1 }, 'wait'],
    ['reboot', reboot(), isReady(), 'act reboot'],
    ['not activated any more', reboot(), isStaged(), 'NotActivated'],
    ['the old boot id proves nothing', reboot(sent('reboot')), { version: '2.0.0' }, 'wait'],
    ['asked for once more', reboot(sent('reboot')), at(300_000), 'act reboot'],
    ['and then no more', reboot(sent('reboot', 2)), at(300_000), 'NoProgress'],
    ['a new boot, the new version', reboot(sent('reboot')), newBoot('2.0.0'), 'reached RebootedIntoUpdate'],
    ['a new boot, a newer one than planned', reboot(), newBoot('2.1.0'), 'reached RebootedIntoUpdate'],
    ['a new boot, the old version', reboot(), newBoot('1.0.0'), 'RolledBack'],
    ['a new boot, /os not up yet', reboot(), newBoot(null), 'wait'],
    ['monitoring: /os answers', onTheWay('RebootedIntoUpdate', 'MonitoringUpdate'), {}, 'reached MonitoringUpdate'],
    ['and not yet', onTheWay('RebootedIntoUpdate', 'MonitoringUpdate'), { version: null }, 'wait'],
    ['recovery: not activated by us', onTheWay('StagedUpdate', 'Idle'), isReady(), 'reached Idle'],
    ['recovery: it was', recover(), isReady(), 'act deactivate'],
    ['recovery: taken back', recover(sent('deactivate')), isStaged(ran('deactivate')), 'reached Idle'],
    ['recovery: the activation still runs', recover(sent('activate')), isStaged(), 'wait'],
    ['recovery: not taken back', recover(sent('deactivate')), isReady(ran('deactivate', 'Failed')), 'note'],
    ['recovery has no deadline', recover(), { ...busy, ...at(9e9) }, 'wait'],
    ['recovery after the boot: nothing to undo', recover(), newBoot('2.0.0'), 'reached Idle'],
  ])('%s', (_what, record, look, words) => {
    expect(inWords(record, seen(look))).toBe(words);
  });

  test('what is staged is what is reported as offered', () => {
    const move = decide(
      kept(onTheWay('Idle', 'StagedUpdate', { pending: pending('prepare') })),
      null,
      seen({ update: status({ state: 'Staged', chosen: '2.1.0', staging: staged, last: ran('prepare') }) }),
      limits,
    );
    expect(move).toMatchObject({
      record: { targetVersion: '2.0.0', updateCheck: { result: 'Available', version: '2.0.0' } },
    });
  });

  test('a finished recovery forgets the attempt, and does not begin again', () => {
    const move = decide(
      kept(onTheWay('PerformedUpdate', 'Idle', {}, { error: { reason: 'x', message: 'y' } })),
      null,
      seen(),
      limits,
    );
    expect(move).toMatchObject({
      kind: 'end',
      record: { state: 'Idle', error: null, step: null, fromVersion: null, bootIdAtStep: null, activated: false },
    });
    expect(move.kind === 'end' && decide(kept(move.record), want('Idle', 5), seen(), limits)).toEqual({ kind: 'rest' });
  });
});

describe('the answer to a command', () => {
  const record = onTheWay('PerformedUpdate', 'RebootedIntoUpdate', { pending: pending('reboot') });
  test('accepted settles nothing, and neither does a broken connection', () => {
    expect(absorb(record, 'reboot', { kind: 'accepted' }, T0, limits)).toBeNull();
    expect(absorb(record, 'reboot', { kind: 'unclear', message: 'reset' }, T0, limits)).toBeNull();
  });
  test('423 is no failure', () => {
    expect(absorb(record, 'reboot', { kind: 'busy' }, T0, limits)).toMatchObject({
      kind: 'note',
      record: { error: null, step: { pending: null } },
    });
  });
  test.each([
    ['reboot', 500, 'RebootRefused'],
    ['activate', 409, 'ActivateFailed'],
    ['prepare', 404, 'NothingOffered'],
    ['prepare', 409, 'PrepareFailed'],
  ] as const)('%s refused with %i is %s', (command, code, reason) => {
    const refused = { kind: 'refused', status: code, message: 'text' } as const;
    expect(absorb(record, command, refused, T0, limits)).toMatchObject({
      kind: 'end',
      record: { error: { reason, message: 'text' } },
    });
  });
});
