import { describe, expect, test } from 'vitest';
import { absorb } from '../../agent/node/absorb.ts';
import { decide, mayAct } from '../../agent/node/decide.ts';
import {
  type Memory,
  newRecord,
  newStep,
  type NodeRecord,
  parseMemory,
  type StepRecord,
} from '../../agent/node/memory.ts';
import type { Limits, Seen } from '../../agent/node/move.ts';
import { standingOf } from '../../agent/node/reporter.ts';
import { parseUpdateStatus, type UpdateStatus, type UpdateView } from '../../agent/node/update-status.ts';
import type { DesiredNode, SpecState } from '../../core/contract.ts';

const limits: Limits = {
  deadlinesMs: {
    Idle: Number.POSITIVE_INFINITY,
    StagedUpdate: 600_000,
    PerformedUpdate: 240_000,
    RebootedIntoUpdate: 840_000,
    MonitoringUpdate: 240_000,
  },
  noProgressAfterMs: 30_000,
  rebootAgainAfterMs: 300_000,
  retryAfterMs: 30_000,
};
const T0 = 1_000_000;
const want = (state: SpecState, generation: number): DesiredNode => ({ state, version: null, generation });
const kept = (record: NodeRecord): Memory => ({ kind: 'kept', record });

const status = (change: Partial<UpdateStatus> = {}): UpdateView => ({
  kind: 'status',
  status: { state: 'Available', chosen: '2.0.0', staging: null, last: null, ...change },
});
const staged = { version: '2.0.0', nextToBoot: false };
const ready = { version: '2.0.0', nextToBoot: true };
const ran = (type: string, outcome = 'Success', timestamp = 't1') => ({
  type,
  status: outcome,
  timestamp,
  detail: 'exit status 1: why',
});
const seen = (change: Partial<Seen> = {}): Seen => ({
  now: T0,
  bootId: 'b1',
  version: '1.0.0',
  update: { kind: 'none' },
  liveVms: 0,
  ...change,
});

const idle = newRecord(1);
const onTheWay = (
  state: SpecState,
  target: SpecState,
  step: Partial<StepRecord> = {},
  change: Partial<NodeRecord> = {},
): NodeRecord => ({
  ...newRecord(5),
  state,
  fromVersion: '1.0.0',
  targetVersion: '2.0.0',
  bootIdAtStep: 'b1',
  ...change,
  step: { ...newStep(target, T0), ...step },
});
const pending = (name: 'refresh' | 'prepare' | 'activate' | 'deactivate' | 'reboot', issued = 1) => ({
  name,
  before: 't0',
  at: T0,
  issued,
});

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
    expect(mayAct(kept(idle), want('StagedUpdate', generation))).toBe(false);
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

describe('each step: what is on record × what is seen → the move', () => {
  const fresh = { refreshed: true };
  test.each<[string, NodeRecord, Partial<Seen>, string]>([
    ['staging begins with a refresh', onTheWay('Idle', 'StagedUpdate'), { update: status() }, 'act refresh'],
    ['also after a boot (404)', onTheWay('Idle', 'StagedUpdate'), {}, 'act refresh'],
    ['busy is waited out', onTheWay('Idle', 'StagedUpdate'), { update: { kind: 'busy' } }, 'wait'],
    [
      'busy to the deadline',
      onTheWay('Idle', 'StagedUpdate'),
      { update: { kind: 'busy' }, now: T0 + 600_000 },
      'LockTimeout',
    ],
    [
      'unreadable to the deadline',
      onTheWay('Idle', 'StagedUpdate', fresh),
      { update: { kind: 'unparseable', message: '?' }, now: T0 + 600_000 },
      'Unparseable',
    ],
    [
      'the old timestamp is not success',
      onTheWay('Idle', 'StagedUpdate', { pending: pending('prepare') }),
      { update: status({ last: ran('prepare', 'Success', 't0') }) },
      'wait',
    ],
    [
      'nor is another command',
      onTheWay('Idle', 'StagedUpdate', { pending: pending('prepare') }),
      { update: status({ last: ran('refresh') }) },
      'wait',
    ],
    [
      'no progress: once more',
      onTheWay('Idle', 'StagedUpdate', { pending: pending('prepare') }),
      { update: status(), now: T0 + 30_000 },
      'act prepare',
    ],
    [
      'and then no more',
      onTheWay('Idle', 'StagedUpdate', { pending: pending('prepare', 2) }),
      { update: status(), now: T0 + 30_000 },
      'NoProgress',
    ],
    [
      'a failed refresh is no crash',
      onTheWay('Idle', 'StagedUpdate', { pending: pending('refresh') }),
      { update: status({ last: ran('refresh', 'Failed') }) },
      'note',
    ],
    [
      'and is retried later',
      onTheWay('Idle', 'StagedUpdate', { refreshFailure: 'x', notBefore: T0 + 5 }),
      { update: status() },
      'wait',
    ],
    [
      'until the deadline',
      onTheWay('Idle', 'StagedUpdate', { refreshFailure: 'x' }),
      { update: status(), now: T0 + 600_000 },
      'RefreshFailed',
    ],
    [
      'nothing offered',
      onTheWay('Idle', 'StagedUpdate', fresh),
      { update: status({ state: 'Idle' }) },
      'NothingOffered',
    ],
    ['offered', onTheWay('Idle', 'StagedUpdate', fresh), { update: status() }, 'act prepare'],
    [
      'staged before: prepared again',
      onTheWay('Idle', 'StagedUpdate', fresh),
      { update: status({ state: 'Staged', staging: staged }) },
      'act prepare',
    ],
    [
      'activated before: taken as it is',
      onTheWay('Idle', 'StagedUpdate', fresh),
      { update: status({ state: 'Ready', staging: ready }) },
      'reached StagedUpdate',
    ],
    [
      'another one activated',
      onTheWay('Idle', 'StagedUpdate', fresh),
      { update: status({ state: 'Ready', staging: { ...ready, version: '1.9.0' } }) },
      'act deactivate',
    ],
    [
      'prepared',
      onTheWay('Idle', 'StagedUpdate', { pending: pending('prepare') }),
      { update: status({ state: 'Staged', staging: staged, last: ran('prepare') }) },
      'reached StagedUpdate',
    ],
    [
      '"success" that staged nothing',
      onTheWay('Idle', 'StagedUpdate', { pending: pending('prepare') }),
      { update: status({ last: ran('prepare') }) },
      'PrepareFailed',
    ],
    ['a boot in between: again', onTheWay('Idle', 'StagedUpdate', fresh), { bootId: 'b2' }, 'note'],
    [
      'activation',
      onTheWay('StagedUpdate', 'PerformedUpdate'),
      { update: status({ state: 'Staged', staging: staged }) },
      'act activate',
    ],
    [
      'of the set that was staged',
      onTheWay('StagedUpdate', 'PerformedUpdate'),
      { update: status({ state: 'Staged', staging: { ...staged, version: '2.1.0' } }) },
      'VersionMoved',
    ],
    [
      'also when a newer one was chosen since',
      onTheWay('StagedUpdate', 'PerformedUpdate'),
      { update: status({ state: 'Staged', staging: staged, chosen: '2.1.0' }) },
      'act activate',
    ],
    ['nothing staged', onTheWay('StagedUpdate', 'PerformedUpdate'), { update: status() }, 'NotStaged'],
    [
      'a failed activation',
      onTheWay('StagedUpdate', 'PerformedUpdate', { pending: pending('activate') }),
      { update: status({ state: 'Staged', staging: staged, last: ran('activate', 'Failed') }) },
      'ActivateFailed',
    ],
    [
      'activated',
      onTheWay('StagedUpdate', 'PerformedUpdate', { pending: pending('activate') }),
      { update: status({ state: 'Ready', staging: ready, last: ran('activate') }) },
      'reached PerformedUpdate',
    ],
    ['a reboot before activation', onTheWay('StagedUpdate', 'PerformedUpdate'), { bootId: 'b2' }, 'UnexpectedReboot'],
    [
      'the reboot waits for the guests',
      onTheWay('PerformedUpdate', 'RebootedIntoUpdate'),
      { update: status({ state: 'Ready', staging: ready }), liveVms: 1 },
      'wait',
    ],
    [
      'reboot',
      onTheWay('PerformedUpdate', 'RebootedIntoUpdate'),
      { update: status({ state: 'Ready', staging: ready }) },
      'act reboot',
    ],
    [
      'not activated any more',
      onTheWay('PerformedUpdate', 'RebootedIntoUpdate'),
      { update: status({ state: 'Staged', staging: staged }) },
      'NotActivated',
    ],
    [
      'the old boot id proves nothing',
      onTheWay('PerformedUpdate', 'RebootedIntoUpdate', { pending: pending('reboot') }),
      { version: '2.0.0' },
      'wait',
    ],
    [
      'asked for once more',
      onTheWay('PerformedUpdate', 'RebootedIntoUpdate', { pending: pending('reboot') }),
      { now: T0 + 300_000 },
      'act reboot',
    ],
    [
      'a new boot, the new version',
      onTheWay('PerformedUpdate', 'RebootedIntoUpdate', { pending: pending('reboot') }),
      { bootId: 'b2', version: '2.0.0' },
      'reached RebootedIntoUpdate',
    ],
    [
      'a new boot, a newer version than planned',
      onTheWay('PerformedUpdate', 'RebootedIntoUpdate'),
      { bootId: 'b2', version: '2.1.0' },
      'reached RebootedIntoUpdate',
    ],
    ['a new boot, the old version', onTheWay('PerformedUpdate', 'RebootedIntoUpdate'), { bootId: 'b2' }, 'RolledBack'],
    [
      'a new boot, /os not up yet',
      onTheWay('PerformedUpdate', 'RebootedIntoUpdate'),
      { bootId: 'b2', version: null },
      'wait',
    ],
    [
      'monitoring passes when /os answers',
      onTheWay('RebootedIntoUpdate', 'MonitoringUpdate'),
      {},
      'reached MonitoringUpdate',
    ],
    [
      'and not when it does not',
      onTheWay('RebootedIntoUpdate', 'MonitoringUpdate'),
      { version: null, now: T0 + 240_000 },
      'UpdateApiUnavailable',
    ],
    [
      'recovery: nothing was activated by us',
      onTheWay('StagedUpdate', 'Idle'),
      { update: status({ state: 'Ready', staging: ready }) },
      'reached Idle',
    ],
    [
      'recovery: it was',
      onTheWay('PerformedUpdate', 'Idle', {}, { activated: true }),
      { update: status({ state: 'Ready', staging: ready }) },
      'act deactivate',
    ],
    [
      'recovery: taken back',
      onTheWay('PerformedUpdate', 'Idle', { pending: pending('deactivate') }, { activated: true }),
      { update: status({ state: 'Staged', staging: staged, last: ran('deactivate') }) },
      'reached Idle',
    ],
    [
      'recovery: the activation still runs',
      onTheWay('StagedUpdate', 'Idle', { pending: pending('activate') }, { activated: true }),
      { update: status({ state: 'Staged', staging: staged }) },
      'wait',
    ],
    [
      'recovery: not taken back, tried again',
      onTheWay('PerformedUpdate', 'Idle', { pending: pending('deactivate') }, { activated: true }),
      { update: status({ state: 'Ready', staging: ready, last: ran('deactivate', 'Failed') }) },
      'note',
    ],
    [
      'recovery has no deadline',
      onTheWay('PerformedUpdate', 'Idle', {}, { activated: true }),
      { update: { kind: 'busy' }, now: T0 + 9e9 },
      'wait',
    ],
    [
      'recovery after the boot: nothing to undo',
      onTheWay('PerformedUpdate', 'Idle', {}, { activated: true }),
      { bootId: 'b2' },
      'reached Idle',
    ],
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

describe('the record on disk', () => {
  test('survives being written and read', () => {
    const record = onTheWay('Idle', 'StagedUpdate', { pending: pending('prepare') });
    expect(parseMemory(JSON.stringify(record), true)).toEqual({ kind: 'kept', record });
  });
  test.each([
    ['half a file', '{"format":1,', true, 'lost'],
    ['an empty file', '', true, 'lost'],
    ['a newer format', JSON.stringify({ ...idle, format: 2 }), true, 'lost'],
    ['no file where there was one', null, true, 'lost'],
    ['no file on a new node', null, false, 'fresh'],
  ])('%s', (_what, text, known, kind) => {
    expect(parseMemory(text, known).kind).toBe(kind);
  });
  test('a lost record is reported without a generation', () => {
    expect(standingOf({ kind: 'lost', why: 'gone' })).toEqual({
      state: 'ErrorReset',
      error: { reason: 'StateLost', message: 'gone' },
    });
  });
});

describe('the status document is read tolerantly', () => {
  const document = {
    update_state: 'Staged',
    chosen_update: { version: '1.21.1' },
    staging_partition: { image: { version: '1.21.0' }, next_to_boot: false },
    most_recent_command: {
      cmd_type: 'refresh',
      cmd_status: 'Failed',
      timestamp: 't',
      exit_status: null,
      stderr: '\u001b[31mno route\u001b[0m\n',
    },
  };
  test('colours go, nulls stay nulls', () => {
    expect(parseUpdateStatus(JSON.stringify(document))).toMatchObject({
      status: { chosen: '1.21.1', staging: { version: '1.21.0', nextToBoot: false }, last: { detail: 'no route' } },
    });
  });
  test.each([
    ['only the state', { update_state: 'Idle' }, 'status'],
    [
      'a command we do not know',
      { ...document, most_recent_command: { cmd_type: 'deactivate', cmd_status: 'Unknown', timestamp: 't' } },
      'status',
    ],
    ['a state we do not know', { ...document, update_state: 'Baking' }, 'unparseable'],
    ['not even an object', [], 'unparseable'],
  ])('%s', (_what, body, kind) => {
    expect(parseUpdateStatus(JSON.stringify(body)).kind).toBe(kind);
  });
  test('half a document keeps its raw text', () => {
    expect(parseUpdateStatus('{"update_state"')).toMatchObject({
      kind: 'unparseable',
      message: expect.stringContaining('{"update_state"'),
    });
  });
});
