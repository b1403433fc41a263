import { describe, expect, test } from 'vitest';
import { causesOf } from '../../present/causes.ts';
import { crashedNode, group, idleNode, loopingVm, NODE_A, NODE_B, runningVm } from '../face/fleet.ts';

const none = { nodes: [], vms: [], groups: [] };
const failing = (vmId: string, message: string, hostId = NODE_A): ReturnType<typeof loopingVm> =>
  loopingVm({
    vmId,
    hostId,
    startFailure: {
      consecutiveFailCount: 2,
      lastFailedInstanceId: '0123456789abcdef',
      retryAfter: '2026-01-05T00:10:30.000Z',
      reason: 'LaunchFailed',
      message,
    },
  });

describe('what needs attention', () => {
  test('nothing, when all is as it should be', () => {
    expect(causesOf({ nodes: [idleNode()], vms: [runningVm()], groups: [group()] })).toEqual([]);
  });

  test('two hundred VMs of a host that fail for one reason are one line, whatever numbers are in it', () => {
    const vms = Array.from({ length: 200 }, (_, n) => failing(`vm-${n}`, `disk full (process ${1000 + n})`));
    const [only, ...others] = causesOf({ ...none, vms });
    expect(others).toEqual([]);
    expect(only).toMatchObject({
      who: `200 VMs of host ${NODE_A}`,
      state: 'CrashLoopBackOff',
      why: 'LaunchFailed: disk full (process 1000)',
      next: '2026-01-05T00:10:30.000Z',
    });
    expect(only?.ids).toHaveLength(200);
  });

  test('another reason, or another host, is a line of its own; the most come first', () => {
    const vms = [
      failing('a', 'no such image'),
      failing('b', 'disk full'),
      failing('c', 'disk full'),
      failing('d', 'disk full', NODE_B),
    ];
    expect(causesOf({ ...none, vms }).map(({ ids }) => ids)).toEqual([['b', 'c'], ['a'], ['d']]);
  });

  test('a node that backs off says what it crashed of and when it is tried again; one alone is named', () => {
    expect(causesOf({ ...none, nodes: [crashedNode()] })).toMatchObject([
      {
        who: NODE_B,
        state: 'BackingOff',
        tone: 'bad',
        why: 'ActivateFailed: exit status 1',
        next: '2026-01-05T00:10:12.000Z',
      },
    ]);
  });

  test('a node that has given up is said so, apart from those that are tried again', () => {
    const nodes = [crashedNode(), crashedNode({ nodeId: NODE_A, waitingFor: { code: 'GaveUp' } })];
    expect(causesOf({ ...none, nodes }).map(({ state }) => state)).toEqual(['GaveUp', 'BackingOff']);
  });

  test('what is listed here is what the API says needs attention, in its order, worst first', () => {
    const silent = idleNode({ attention: { code: 'Silent', cause: '' } });
    const unwell = runningVm({ attention: { code: 'Unwell', cause: 'its watchdog bit' } });
    const alarmed = group({ group: 'web', attention: { code: 'AlarmRinging', cause: 'p99' } });
    const causes = causesOf({ nodes: [silent], vms: [unwell], groups: [alarmed] });
    expect(causes.map(({ kind, tone }) => `${kind} ${tone}`)).toEqual(['group bad', 'node warn', 'vm warn']);
    expect(causes[0]?.why).toBe('Stopped by an alarm: p99');
  });

  test('a held node names who holds it, a failed update check its reason', () => {
    const held = idleNode({ phase: 'Held', heldBy: 'ada' });
    const blind = idleNode({ nodeId: NODE_B });
    const status =
      blind.status === null
        ? null
        : { ...blind.status, updateCheck: { result: 'Failed' as const, message: 'timeout' } };
    const causes = causesOf({ ...none, nodes: [held, { ...blind, status }] });
    expect(causes.map(({ why }) => why)).toEqual(['held by ada', 'update check failed: timeout']);
  });

  test('an open breaker and a paused group are causes of their own, the breaker first', () => {
    const breakers = [{ version: '1.21.0', openedAt: '2026-01-05T00:00:00.000Z', nodes: [NODE_A, NODE_B] }];
    const groups = [group({ group: 'web', paused: true }), group({ group: 'canary', breakers })];
    expect(causesOf({ ...none, groups }).map(({ who, state, why }) => [who, state, why])).toMatchObject([
      ['canary', 'BreakerOpen', '1.21.0 is stopped: 2 nodes crashed on it'],
      ['web', 'Paused', expect.any(String)],
    ]);
  });

  test('what only the summary knows is shown once, beside what the lists say', () => {
    const attention = [
      { kind: 'node' as const, id: NODE_B, why: 'BackingOff: …' },
      { kind: 'node' as const, id: NODE_A, why: 'Idle: silent for 2 h' },
    ];
    const causes = causesOf({ ...none, nodes: [crashedNode(), idleNode()] }, { attention });
    expect(causes.map(({ who, why }) => [who, why])).toEqual([
      [NODE_B, 'ActivateFailed: exit status 1'],
      [NODE_A, 'Idle: silent for 2 h'],
    ]);
  });
});
