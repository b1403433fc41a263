/** What needs attention first: the order, and what is one line. */
import { describe, expect, test } from 'vitest';
import { ATTENTION_CODES, type AttentionCode } from '../../core/contract/words.ts';
import { attentionEntries, type Troubled } from '../../core/fleet/attention.ts';
import { compareGroups, compareNodes, compareVms } from '../../core/fleet/order.ts';
import { group, idleNode, loopingVm, runningVm } from '../face/fleet.ts';

const vm = (id: string, code: AttentionCode, cause: string, place = 'i-e'): Troubled => ({
  kind: 'vm',
  id,
  place,
  code,
  cause,
});

describe('what needs attention', () => {
  test('is one line for all VMs of a host that fail for the same reason', () => {
    const full = Array.from({ length: 200 }, (_, index) =>
      vm(`vm-${String(index).padStart(3, '0')}`, 'CrashLoop', `LaunchFailed: disk full (${index} MiB left)`),
    );
    const [first, ...rest] = attentionEntries(full);
    expect(rest).toEqual([]);
    expect(first).toMatchObject({ kind: 'vm', id: 'vm-000', code: 'CrashLoop', count: 200 });
    expect(first?.why).toBe('200 VMs of host i-e, in a crash loop: LaunchFailed: disk full (0 MiB left)');
    expect(first?.ids).toHaveLength(20);
  });

  test('is a line for each host, each cause, and each group', () => {
    const lines = attentionEntries([
      vm('a', 'CrashLoop', 'LaunchFailed: disk full'),
      vm('b', 'CrashLoop', 'LaunchFailed: no such image'),
      vm('c', 'CrashLoop', 'LaunchFailed: disk full', 'i-f'),
      { kind: 'group', id: 'web', place: 'web', code: 'Paused', cause: 'by alice' },
      { kind: 'group', id: 'db', place: 'db', code: 'Paused', cause: 'by alice' },
    ]);
    expect(lines.map(({ id, count }) => `${id} ${count ?? 0}`)).toEqual(['a 1', 'b 1', 'c 1', 'db 1', 'web 1']);
  });

  test('comes in one order, whatever the order in which it was found, and the rest is counted', () => {
    const all = ATTENTION_CODES.map((code) => vm(`of-${code}`, code, ''));
    const inOrder = ATTENTION_CODES.map((code) => `of-${code}`);
    expect(attentionEntries(all.toReversed()).map(({ id }) => id)).toEqual(inOrder);
    expect(attentionEntries(all, 3).map(({ id }) => id)).toEqual(inOrder.slice(0, 3));
  });

  test('what stands for most comes first of what is equally bad', () => {
    const lines = attentionEntries([vm('a', 'Crashed', 'x'), vm('b', 'Crashed', 'y'), vm('c', 'Crashed', 'y')]);
    expect(lines.map(({ why }) => why)).toEqual([
      '2 VMs of host i-e, crashed, and tried again: y',
      'Crashed, and tried again: x',
    ]);
  });

  test('is in the same order in the lists', () => {
    const nodes = ATTENTION_CODES.map((code) => idleNode({ nodeId: code, attention: { code, cause: '' } }));
    const vms = ATTENTION_CODES.map((code) => runningVm({ vmId: code, attention: { code, cause: '' } }));
    const groups = ATTENTION_CODES.map((code) => group({ group: code, attention: { code, cause: '' } }));
    expect(
      nodes
        .toReversed()
        .sort(compareNodes)
        .map(({ nodeId }) => nodeId),
    ).toEqual(ATTENTION_CODES);
    expect(
      vms
        .toReversed()
        .sort(compareVms)
        .map(({ vmId }) => vmId),
    ).toEqual(ATTENTION_CODES);
    expect(
      groups
        .toReversed()
        .sort(compareGroups)
        .map((shown) => shown.group),
    ).toEqual(ATTENTION_CODES);
  });

  test('of a control plane that says nothing of it is told by the phase, the status and the breaker', () => {
    const nodes = [idleNode(), idleNode({ nodeId: 'q', phase: 'Queued' }), idleNode({ nodeId: 'h', phase: 'Held' })];
    expect(nodes.sort(compareNodes).map(({ phase }) => phase)).toEqual(['Held', 'Queued', 'Idle']);
    expect([runningVm(), loopingVm()].sort(compareVms).map(({ vmId }) => vmId)).toEqual(['web', 'db']);
    const broken = group({ group: 'z', breakers: [{ version: '2', openedAt: '2026-01-05T00:00:00.000Z', nodes: [] }] });
    const paused = group({ group: 'p', paused: true });
    expect([group(), paused, broken].sort(compareGroups).map((shown) => shown.group)).toEqual(['z', 'p', 'default']);
  });
});
