/** What a report proves and what it does not: order, what is worth a write, stale and unnamed generations, tombstones. */
import { describe, expect, test } from 'vitest';
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import { type NodeEvent } from '../../core/node/event.ts';
import { at, AVAILABLE, crashedAt, NodeLife, nodeAt, UPDATED } from './life.ts';

describe('order', () => {
  test.each([
    ['a greater uptime', { uptime: 11 }, 'changed'],
    ['the same uptime', { uptime: 10 }, 'unchanged'],
    ['a smaller uptime', { uptime: 9 }, 'unchanged'],
    ['another boot, whatever its uptime', { uptime: 1, bootId: 'b9' }, 'changed'],
    ['a boot that was replaced', { uptime: 99, bootId: 'b0' }, 'unchanged'],
  ])('a report with %s is accepted or out of order', (_what, more, kind) => {
    const life = new NodeLife();
    life.report({ bootId: 'b0', uptime: 5000 });
    life.report({ uptime: 10 });
    expect(life.report({ agentVersion: 'new', ...more }).kind).toBe(kind);
  });

  test.each([
    ['within the time a request may be on its way', 15, 'unchanged', ['b7']],
    ['later than any request could be', 16, 'changed', ['b6']],
  ])('a boot whose successor seemed to be older than it is, heard %s', (_when, minutes, kind, previous) => {
    const life = new NodeLife();
    life.report({ bootId: 'b7', uptime: 5 });
    // The only report of the boot before it was overtaken.
    life.report({ bootId: 'b6', uptime: 2 });
    life.now = at(minutes * 60);
    expect(life.report({ bootId: 'b7', uptime: 5 + minutes * 60 }).kind).toBe(kind);
    expect(life.node.previousBoots).toEqual(previous);
  });

  test('no boot outlives a terminated machine', () => {
    const life = new NodeLife();
    life.report({ bootId: 'b7', uptime: 5 });
    life.report({ bootId: 'b6', uptime: 2 });
    life.node = { ...life.node, removed: { at: at(0), reason: 'terminated', how: 'terminated' } };
    life.now = at(3600);
    expect(life.report({ bootId: 'b7', uptime: 3605 }).kind).toBe('unchanged');
  });

  test('a report without an uptime is in order, and keeps the uptime known of that boot', () => {
    const life = new NodeLife();
    const bare = (more: Partial<NodeReport>) => {
      const report: NodeReport = {
        state: 'Idle',
        generation: 1,
        bootId: 'b1',
        currentVersion: '1.0',
        updateCheck: AVAILABLE,
        ...more,
      };
      return life.send({ kind: 'report', report });
    };
    bare({});
    expect(life.node.status?.uptime).toBeNull();
    expect(bare({ uptime: 0, agentVersion: 'v1' }).kind).toBe('changed');
    bare({ uptime: 40, agentVersion: 'v0' });
    bare({ uptime: 50, agentVersion: 'v2' });
    bare({ agentVersion: 'v3' });
    expect(life.node.status).toMatchObject({ uptime: 50, agentVersion: 'v3' });
    bare({ bootId: 'b2' });
    expect(life.node.status?.uptime).toBeNull();
    expect(bare({ bootId: 'b2', uptime: 3, agentVersion: 'v4' }).kind).toBe('changed');
  });

  test('the last 16 boots that were replaced are remembered, newest last', () => {
    const life = new NodeLife();
    for (let boot = 0; boot <= 20; boot += 1) life.report({ bootId: `boot-${boot}` });
    expect(life.node.previousBoots).toEqual(Array.from({ length: 16 }, (_, index) => `boot-${index + 4}`));
  });
});

describe('what is worth a write', () => {
  const idle = (): NodeLife => {
    const life = new NodeLife();
    life.report({ updateCheck: { result: 'UpToDate' } });
    return life;
  };
  const same = { updateCheck: { result: 'UpToDate' } } as const;

  test('a report that says nothing new is none, until the last one is 30 min old', () => {
    const life = idle();
    expect(life.to(1799.999).report(same).kind).toBe('unchanged');
    expect(life.to(1800).report(same).kind).toBe('changed');
    expect(life.node.status?.reportedAt).toBe(at(1800));
  });

  test.each<[string, Partial<NodeReport>]>([
    ['the state', { state: 'StagedUpdate' }],
    ['the version', { currentVersion: '1.0.1' }],
    ['the boot', { bootId: 'b2' }],
    ['the result of the check', { updateCheck: { result: 'Available' } }],
    ['the version offered', { updateCheck: { result: 'UpToDate', version: '9' } }],
    ['the message of the check', { updateCheck: { result: 'UpToDate', message: 'x' } }],
    ['the agent', { agentVersion: '2' }],
    ['a drain', { drain: { blockedBy: 'pod a' } }],
  ])('%s is', (_what, more) => {
    const life = idle();
    expect(life.report({ ...same, ...more }).kind).toBe('changed');
  });

  test('of a node under way each uptime is, so that a report overtaken by it is out of order', () => {
    const life = nodeAt('StagedUpdate');
    expect(life.report({ state: 'Idle', uptime: 500 }).kind).toBe('changed');
    expect(life.node.status?.uptime).toBe(500);
    expect(life.report({ state: 'ErrorReset', uptime: 400 }).kind).toBe('unchanged');
    const soaking = nodeAt('MonitoringUpdate');
    soaking.report(UPDATED);
    soaking.report({ ...UPDATED, uptime: 500 });
    expect(soaking.node.status?.uptime).toBe(500);
    const unnamed = { state: 'MonitoringUpdate', generation: 5, ...UPDATED } as const;
    soaking.send({ kind: 'report', report: unnamed });
    expect(soaking.node.status?.uptime).toBe(500);
    const recovering = crashedAt('StagedUpdate');
    recovering.to(1).report({ state: 'Idle', generation: 2, uptime: 100 });
    expect(recovering.node.crash.count).toBe(1);
  });

  test('that a node which was unreachable, silent or not woken is heard of is', () => {
    const silent = idle();
    silent.to(3600).due();
    silent.to(3601).report(same);
    expect(silent.node.silentSince).toBeNull();
    const unreachable = crashedAt('StagedUpdate');
    unreachable.to(120).due();
    unreachable.to(125).report({ state: 'ErrorReset' });
    expect(unreachable.node.unreachableSince).toBeNull();
    const refused = nodeAt('Idle');
    refused.start(false);
    refused.send({ kind: 'wakeFailed', status: 'TimedOut', generation: null });
    refused.report({ state: 'Idle' });
    expect(refused.node.wakeFailure).toBeNull();
    const stale = nodeAt('StagedUpdate');
    stale.node = { ...stale.node, silentSince: at(0) };
    stale.report({ state: 'Idle', generation: 1 });
    expect(stale.node.silentSince).toBeNull();
    const unwoken = nodeAt('Idle');
    unwoken.start(false);
    unwoken.send({ kind: 'wakeFailed', status: 'TimedOut', generation: null });
    unwoken.report({ state: 'Idle', generation: 1 });
    expect(unwoken.node.wakeFailure).toBeNull();
  });

  test('a fence holds until the host has booted again', () => {
    const life = idle();
    life.send({ kind: 'fence', by: 'ann' });
    life.report({ ...same, agentVersion: '2' });
    expect(life.node.fencedAt).toBe(at(0));
    life.report({ ...same, bootId: 'b2' });
    expect(life.node.fencedAt).toBeNull();
  });
});

test.each([
  ['a text', 'pod a', 'pod a'],
  ['a list', ['pod a', 'pod b'], 'pod a, pod b'],
  ['a text that is too long', 'x'.repeat(1001), `${'x'.repeat(999)}…`],
])('a drain that is blocked by %s is kept as one text', (_what, blockedBy, kept) => {
  const life = nodeAt('RebootedIntoUpdate');
  life.report({ state: 'PerformedUpdate', drain: { blockedBy } });
  expect(life.node.status?.drainBlockedBy).toBe(kept);
});

test('a check that fails is a warning, once, with its message or without', () => {
  const life = new NodeLife();
  life.report({ updateCheck: { result: 'Failed', message: 'm'.repeat(1001) } });
  expect(life.events.at(-1)).toEqual({
    kind: 'event',
    type: 'Node Update Check Failed',
    severity: 'warning',
    message: `update check failed: ${'m'.repeat(999)}…`,
  });
  life.report({ updateCheck: { result: 'Failed', message: 'another' } });
  expect(life.events).toEqual([]);
  life.report();
  life.report({ updateCheck: { result: 'Failed' } });
  expect(life.messages).toEqual(['Node Update Check Failed: update check failed: no message']);
});

describe('generations', () => {
  test('one that is ahead of ours is refused, and says what may have happened', () => {
    const life = nodeAt('Idle');
    const ahead = (generation: number): NodeEvent => ({
      kind: 'report',
      report: { state: 'Idle', generation, bootId: 'b1', currentVersion: '1.0', updateCheck: AVAILABLE, uptime: 99 },
    });
    expect(life.refused(ahead(2))).toEqual({
      status: 409,
      code: 'GenerationAhead',
      detail: 'the report names generation 2, ours is 1; the control plane may have been restored from an older copy',
    });
    expect(new NodeLife().refused(ahead(2)).detail).toContain('ours is none: this node is not enrolled');
    expect(new NodeLife().send(ahead(1)).kind).toBe('changed');
  });

  test('an older one proves that the node lives and acknowledges the step, and nothing else', () => {
    const life = nodeAt('Idle');
    life.start(false);
    life.to(3).report({ state: 'ErrorReset', generation: 1, currentVersion: '7' });
    expect(life.node).toMatchObject({
      crash: { count: 0 },
      status: { currentVersion: '1.0' },
      spec: { acknowledgedAt: at(3), nextWakeAt: null },
    });
    expect(life.to(4).report({ state: 'ErrorReset', generation: 1 }).kind).toBe('unchanged');
    life.to(723).due();
    expect(life.node.unreachableSince).toBe(at(723));
    life.to(724).report({ state: 'StagedUpdate', generation: 2 });
    expect(life.node).toMatchObject({ unreachableSince: null, status: { state: 'Idle', reportedAt: at(724) } });
  });

  test('a report without one completes and fails no step', () => {
    const life = nodeAt('StagedUpdate');
    life.reportWithoutGeneration({ state: 'StagedUpdate' });
    expect(life.facts).toEqual([]);
    life.reportWithoutGeneration({ state: 'ErrorReset' });
    expect(life.facts).toEqual([]);
    expect(life.node).toMatchObject({ spec: { state: 'StagedUpdate', reachedAt: null }, crash: { count: 0 } });
    expect(life.node.status?.state).toBe('ErrorReset');
  });

  test('a report without one is believed when it says Idle and Idle is wanted, and not otherwise', () => {
    const life = crashedAt('StagedUpdate');
    life.reportWithoutGeneration({ state: 'PerformedUpdate', uptime: 90 });
    expect(life.node.spec.reachedAt).toBeNull();
    expect(life.facts).toEqual([]);
    life.to(1).reportWithoutGeneration({ uptime: 91 });
    expect(life.node.spec.reachedAt).toBe(at(1));
    life.reportWithoutGeneration({ state: 'PerformedUpdate', uptime: 92 });
    expect(life.node.spec.reachedAt).toBe(at(1));
  });
});

describe('an Idle node that reports another state', () => {
  test.each(['ErrorReset', 'PerformedUpdate'] as const)(
    '%s recovers again: it is woken and nothing counts',
    (state) => {
      const life = nodeAt('Idle');
      life.to(9).report({ state });
      expect(life.node).toMatchObject({
        crash: { count: 0 },
        waitingSince: null,
        spec: { generation: 1, reachedAt: null, nextWakeAt: at(9), acknowledgedAt: at(9) },
      });
      expect(life.facts).toEqual([]);
      expect(life.to(10).report({ state }).kind).toBe('changed');
      expect(life.facts).toEqual([]);
      expect(life.node.spec.nextWakeAt).toBe(at(9));
    },
  );

  test('on the way back from a success keeps it, unless it is ErrorReset', () => {
    const life = nodeAt('MonitoringUpdate');
    life.report(UPDATED);
    life.to(120).due();
    life.report({ ...UPDATED, state: 'MonitoringUpdate' });
    expect(life.node).toMatchObject({ attempt: { succeeded: true }, spec: { reachedAt: null } });
  });
});

test('the same report again is an old one, also where the first changed more than what was observed', () => {
  const life = nodeAt('Idle');
  life.reportWithoutGeneration({ state: 'PerformedUpdate' });
  const report = { state: 'PerformedUpdate', uptime: 500 } as const;
  expect(life.report(report).kind).toBe('changed');
  expect(life.node.status?.uptime).toBe(500);
  expect(life.report(report).kind).toBe('unchanged');
});
