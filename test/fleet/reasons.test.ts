/** Why a person should look at a node, a VM, a group: the first reason of its record, with its cause. */
import { describe, expect, test } from 'vitest';
import { groupAttention } from '../../core/group/attention.ts';
import { type GroupRecord, newGroup } from '../../core/group/record.ts';
import { DEFAULT_GROUP, parseNodeId } from '../../core/kit/ids.ts';
import { nodeAttention } from '../../core/node/attention.ts';
import { NO_CRASH, type NodeRecord } from '../../core/node/record.ts';
import { vmAttention } from '../../core/vm/attention.ts';
import type { VmRecord } from '../../core/vm/record.ts';
import { at, NODE, NodeLife } from '../node/life.ts';
import { declared, instance, running } from '../vm/scene.ts';

const settled = new NodeLife();
settled.report({ state: 'Idle', updateCheck: { result: 'UpToDate' } });
const said = (changes: Partial<NodeRecord>): string => {
  const attention = nodeAttention({ ...settled.node, ...changes });
  return attention === null ? 'nothing' : `${attention.code} (${attention.cause})`;
};
const crashed = (count: number) => ({
  ...NO_CRASH,
  count,
  firstAt: at(0),
  lastAt: at(0),
  lastReason: 'ActivateFailed',
  lastMessage: 'exit status 1\nand more',
});
const status = settled.node.status ?? expect.fail('it has reported');
const policy = { ...settled.node.policy, backoff: { ...settled.node.policy.backoff, giveUpAfter: 2 } };

describe('a node needs attention', () => {
  test.each<[string, Partial<NodeRecord>, string]>([
    ['not at rest', {}, 'nothing'],
    [
      'unheard after a step was withdrawn',
      { unreachableSince: at(1), crash: crashed(5) },
      'Unreachable (on its way to Idle)',
    ],
    ['silent', { silentSince: at(1), crash: crashed(5) }, 'Silent ()'],
    ['given up', { policy, crash: crashed(3) }, 'GaveUp (ActivateFailed: exit status 1)'],
    [
      'with three crashes on record',
      { crash: crashed(3), blockedVersions: ['2'] },
      'CrashLoop (ActivateFailed: exit status 1)',
    ],
    ['booted back', { crash: crashed(1), blockedVersions: ['2', '3'] }, 'VersionBlocked (2, 3)'],
    ['with one crash on record', { crash: crashed(1), heldBy: 'alice' }, 'Crashed (ActivateFailed: exit status 1)'],
    ['on its way back', { spec: { ...settled.node.spec, reachedAt: null } }, 'Recovering ()'],
    ['held', { heldBy: 'alice' }, 'Held (by alice)'],
    [
      'whose check fails',
      { status: { ...status, updateCheck: { result: 'Failed', message: 'no route' } } },
      'UpdateCheckFailed (no route)',
    ],
    [
      'with a stray domain',
      { unexpected: [{ name: 'old' }] },
      'Unexpected (Unexpected on this host: old runs although it should not.)',
    ],
    ['not once removed', { removed: { at: at(1), reason: 'x' }, unreachableSince: at(1) }, 'nothing'],
    [
      'not for its crashes while it is switched off',
      { machine: { state: 'stopped', at: at(1) }, crash: crashed(3) },
      'nothing',
    ],
  ])('%s', (_, changes, wanted) => {
    expect(said(changes)).toBe(wanted);
  });
});

describe('a VM needs attention', () => {
  const calm = running('Always');
  const code = (changes: Partial<VmRecord>): string | undefined => vmAttention({ ...calm.vm, ...changes })?.code;
  const alive = instance(calm);
  const failure = (count: number): VmRecord['startFailure'] => ({
    consecutiveFailCount: count,
    lastFailedInstanceId: alive.instanceId,
    retryAfter: at(9),
    reason: 'LaunchFailed',
    message: null,
  });

  test.each<[string, Partial<VmRecord>, string | undefined]>([
    ['not while it runs', {}, undefined],
    ['given up', { gaveUpAt: at(1), startFailure: failure(3) }, 'GaveUp'],
    ['with three failures on record, whatever it does now', { startFailure: failure(3) }, 'CrashLoop'],
    ['with one', { startFailure: failure(1) }, 'Crashed'],
    ['on a silent host', { instance: { ...alive, phase: 'Unknown' } }, 'Unknown'],
    [
      'whose guest is paused by an I/O error',
      { instance: { ...alive, condition: { kind: 'IoError', since: at(1) } } },
      'Unwell',
    ],
    [
      'whose guest resets itself',
      { instance: { ...alive, resets: { count: 9, seenAt: [at(1), at(2), at(3)] } } },
      'Unwell',
    ],
    ['that ended with its host three times', { hostLosses: 3 }, 'Unwell'],
    ['on its way out', { deleting: { at: at(1), deadlineAt: at(2) } }, 'Terminating'],
    ['not once removed', { removed: { at: at(1) }, gaveUpAt: at(1) }, undefined],
  ])('%s', (_, changes, wanted) => {
    expect(code(changes)).toBe(wanted);
  });

  test('and one that may start only Once and failed', () => {
    const once = declared('Once');
    once.report('Failed', { cause: 'LaunchFailed', message: 'disk full' });
    expect(vmAttention(once.vm)).toEqual({ code: 'Failed', cause: 'LaunchFailed: disk full' });
  });
});

describe('a group needs attention', () => {
  const code = (changes: Partial<GroupRecord>, minutes = 0): string =>
    JSON.stringify(groupAttention({ ...newGroup(DEFAULT_GROUP), ...changes }, at(minutes * 60)));
  const node = parseNodeId(NODE) ?? expect.fail('a node id');
  const kept: Partial<GroupRecord> = {
    zone: { zone: 'a', yields: null },
    slots: { [node]: { claimId: 'c', at: at(0) } },
  };

  test('for an open breaker before all else, then for a zone kept longer than 90 min, then for a pause', () => {
    const open = [{ version: '2.0', openedAt: at(0), nodes: [node] }];
    expect(code({ pausedBy: 'alice', breaker: { crashes: [], open } })).toContain('"BreakerOpen","cause":"2.0"');
    expect(code(kept, 91)).toContain('"ZoneKept","cause":"zone a"');
    expect(code(kept, 90)).toBe('null');
    expect(code({ ...kept, pausedBy: 'alice' }, 91)).toContain('"Paused","cause":"by alice"');
  });
});
