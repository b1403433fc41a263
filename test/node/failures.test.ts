/** Crashes, deadlines, wakes that are repeated, silence, and when all of that is forgotten (DESIGN section 2, rules 2, 3, 5, 8). */
import { describe, expect, test } from 'vitest';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { at, crashedAt, NODE, NodeLife, nodeAt, UPDATED } from './life.ts';
import { soon } from './situations.ts';

const STEPS = ['StagedUpdate', 'PerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate'] as const;

const wake = (generation: number, decided: boolean) => ({
  kind: 'wake',
  hostId: NODE,
  action: 'DriveNode',
  generation,
  decided,
});

describe('a crash', () => {
  test('is written down as a whole, and is followed by one wake, one metric and one warning', () => {
    const life = nodeAt('PerformedUpdate');
    life.to(7).report({ state: 'ErrorReset', error: { reason: 'ActivateFailed', message: 'exit 1' } });
    expect(life.node.crash).toEqual({
      count: 1,
      firstAt: at(7),
      lastAt: at(7),
      retryAfter: at(9),
      resetAt: at(86_407),
      lastState: 'PerformedUpdate',
      lastReason: 'ActivateFailed',
      lastMessage: 'exit 1',
      towards: ['1.1'],
    });
    expect(life.node.spec).toMatchObject({ state: 'Idle', version: null, generation: 4, reachedAt: null });
    expect(life.node.attempt).toMatchObject({ claimId: 'claim-1', succeeded: false });
    expect(life.node.blockedVersions).toEqual([]);
    expect(life.facts).toEqual([
      wake(4, true),
      { kind: 'metric', name: 'NodeCrash', group: 'default', value: 1 },
      {
        kind: 'event',
        type: 'Node Crashed',
        severity: 'warning',
        message: `failed to reach PerformedUpdate: ActivateFailed: exit 1; crash 1, on its way back to Idle, where the next attempt may begin ${soon(9, '2 s')}`,
      },
    ]);
  });

  test.each([
    [undefined, 'ErrorReset', null],
    [{ reason: '' }, 'ErrorReset', null],
    [{ reason: 'Broken', message: '' }, 'Broken', null],
    [{ reason: 'r'.repeat(101), message: 'm'.repeat(1001) }, `${'r'.repeat(99)}…`, `${'m'.repeat(999)}…`],
    [{ reason: 'r'.repeat(100), message: 'm'.repeat(1000) }, 'r'.repeat(100), 'm'.repeat(1000)],
  ])('reported with %j has a reason, and a message or none', (error, reason, message) => {
    const life = nodeAt('StagedUpdate');
    life.report({ state: 'ErrorReset', ...(error === undefined ? {} : { error }) });
    expect(life.node.crash).toMatchObject({ lastReason: reason, lastMessage: message });
    expect(life.messages[0]).toContain(
      `failed to reach StagedUpdate: ${reason}${message === null ? '' : `: ${message}`}; crash 1`,
    );
  });

  test('whose wait has passed when it is counted waits for Idle only', () => {
    const life = new NodeLife();
    life.policy = groupPolicyOf({ backoff: { unit: '1s', from: 'firstCrash', cap: '1s', resetAfter: 'none' } });
    life.report();
    life.start();
    life.report({ state: 'ErrorReset' });
    const [crash] = life.messages;
    expect(crash).toContain('on its way back to Idle, where the next attempt may begin in 1 s');
    life.to(1).report({ state: 'Idle' });
    life.start();
    life.report({ state: 'ErrorReset' });
    expect(life.messages[0]).toMatch(/crash 2, on its way back to Idle, where the next attempt may begin$/);
    life.to(5).report({ state: 'Idle' });
    life.start();
    life.report({ state: 'ErrorReset' });
    expect(life.messages[0]).toMatch(/crash 3, on its way back to Idle, where the next attempt may begin$/);
    expect(life.node.crash).toMatchObject({ firstAt: at(0), lastAt: at(5), retryAfter: at(1), resetAt: null });
  });

  test.each([
    ['Broken', 'claim-1', false],
    ['DrainBlocked', null, true],
  ])('of reason %s: its slot is %s', (reason, claimId, freed) => {
    const life = nodeAt('RebootedIntoUpdate');
    life.report({ state: 'ErrorReset', error: { reason } });
    expect(life.node.attempt?.claimId).toBe(claimId);
    expect(life.facts.some(({ kind }) => kind === 'slotReleased')).toBe(freed);
  });

  test('of a node without a limit whose drain is blocked: it no longer counts', () => {
    const life = nodeAt('Idle');
    life.send({ kind: 'start', claim: null, told: true });
    life.report({ state: 'ErrorReset', error: { reason: 'DrainBlocked' } });
    expect(life.node.attempt).toMatchObject({ claimId: null, unlimited: false });
    expect(life.kinds()).not.toContain('slotReleased');
  });

  test('while the soak time runs out takes the success away and counts nothing', () => {
    const life = nodeAt('MonitoringUpdate');
    life.report(UPDATED);
    life.to(120).report(UPDATED);
    life.report({ ...UPDATED, state: 'ErrorReset' });
    expect(life.node).toMatchObject({ crash: { count: 0 }, attempt: { succeeded: false } });
    life.report(UPDATED);
    expect(life.messages).toEqual(['Node Recovered: Idle again after crash 0']);
  });

  test('that names the generation before is the same: the success is taken away once, by that report alone', () => {
    const soaked = (): NodeLife => {
      const life = nodeAt('MonitoringUpdate');
      life.report(UPDATED);
      life.to(120).report(UPDATED);
      return life;
    };
    const late = soaked();
    late.report({ ...UPDATED, state: 'ErrorReset', generation: 5 });
    expect(late.node).toMatchObject({ attempt: { succeeded: false }, crash: { count: 0 } });
    const older = soaked();
    older.report({ ...UPDATED, state: 'ErrorReset', generation: 4 });
    expect(older.node.attempt?.succeeded).toBe(true);
    const fine = soaked();
    fine.report({ ...UPDATED, state: 'MonitoringUpdate', generation: 5 });
    expect(fine.node.attempt?.succeeded).toBe(true);
  });

  test('that names an older generation, of a step under way, is stale', () => {
    const life = nodeAt('PerformedUpdate');
    life.report({ state: 'ErrorReset', generation: 2 });
    expect(life.node).toMatchObject({ crash: { count: 0 }, attempt: { succeeded: false }, spec: { generation: 3 } });
  });
});

describe('a rollback', () => {
  test.each(['RebootedIntoUpdate', 'MonitoringUpdate'] as const)(
    'in %s blocks the version, once, until the crash record is cleared',
    (state) => {
      const life = nodeAt(state);
      life.report({ bootId: 'b3', currentVersion: '1.0' });
      expect(life.node).toMatchObject({
        blockedVersions: ['1.1'],
        crash: { lastReason: 'RolledBack', lastMessage: 'booted back into 1.0 instead of 1.1' },
      });
      life.to(86_400).due();
      expect(life.node).toMatchObject({ blockedVersions: [], crash: { count: 0 } });
      expect(life.messages).toContain(
        'Node Crash Record Reset: 1 crashes forgotten: the time since the first one has passed',
      );
    },
  );

  test('to a version that was never named blocks none', () => {
    const life = new NodeLife();
    life.report({ updateCheck: { result: 'Available' } });
    life.start();
    for (let step = 0; step < 2; step += 1) life.report({ updateCheck: { result: 'Available' } });
    life.report({ bootId: 'b2', updateCheck: { result: 'Available' } });
    expect(life.node).toMatchObject({ blockedVersions: [], crash: { lastMessage: 'booted back into 1.0' } });
  });

  test('of a version that is blocked already adds nothing', () => {
    const life = nodeAt('RebootedIntoUpdate');
    life.node = { ...life.node, blockedVersions: ['0.9', '1.1'] };
    life.report({ bootId: 'b2' });
    expect(life.node.blockedVersions).toEqual(['0.9', '1.1']);
  });

  test('is none before the reboot was asked for, in the old boot, or in another version', () => {
    const performed = nodeAt('PerformedUpdate');
    performed.report({ bootId: 'b2' });
    expect(performed.node.crash.count).toBe(0);
    const waiting = nodeAt('RebootedIntoUpdate');
    waiting.report({ state: 'PerformedUpdate' });
    expect(waiting.node.crash.count).toBe(0);
    const other = nodeAt('RebootedIntoUpdate');
    other.report({ bootId: 'b2', currentVersion: '1.2' });
    expect(other.node).toMatchObject({ crash: { count: 0 }, spec: { state: 'MonitoringUpdate' } });
  });
});

describe('a deadline', () => {
  test.each(STEPS)('of %s runs from when the node was told', (state) => {
    const life = nodeAt(state);
    const length = life.node.policy.deadlines[state] / 1000;
    life.to(length - 0.001).due();
    expect(life.node.crash.count).toBe(0);
    life.to(length).due();
    expect(life.node).toMatchObject({
      unreachableSince: at(length),
      crash: {
        count: 1,
        lastReason: 'DeadlinePassed',
        lastMessage: `${state} was not reached within its deadline`,
      },
    });
  });

  test('that passes while something blocks the drain is a crash that names it', () => {
    const life = nodeAt('RebootedIntoUpdate');
    life.report({ state: 'PerformedUpdate', drain: { blockedBy: ['pod a', 'pod b'] } });
    life.to(900).due();
    expect(life.node.crash).toMatchObject({
      lastReason: 'DeadlinePassed',
      lastMessage: 'RebootedIntoUpdate was not reached within its deadline: its drain was blocked by pod a, pod b',
    });
    const staging = nodeAt('StagedUpdate');
    staging.report({ state: 'Idle', drain: { blockedBy: 'pod a' } });
    staging.to(staging.node.policy.deadlines.StagedUpdate / 1000).due();
    expect(staging.node.crash.lastMessage).toBe('StagedUpdate was not reached within its deadline');
  });

  test('a step that is not picked up is withdrawn after 35 min', () => {
    const life = nodeAt('Idle');
    life.start(false);
    life.to(2099.999).due();
    expect(life.node.spec.state).toBe('StagedUpdate');
    life.to(2100).due();
    const withdrawal = life.facts.slice(0, 3);
    expect(life.node).toMatchObject({
      attempt: null,
      unreachableSince: at(2100),
      crash: { count: 0 },
      spec: { state: 'Idle', version: null, generation: 3 },
    });
    const { node } = life;
    life.report({ state: 'ErrorReset', generation: 2 });
    expect(life.node.attempt).toBeNull();
    life.node = node;
    expect(withdrawal).toEqual([
      wake(3, true),
      { kind: 'slotReleased', group: 'default', claimId: 'claim-1' },
      {
        kind: 'event',
        type: 'Node Unreachable',
        severity: 'warning',
        message: 'StagedUpdate was not picked up within 35 min and is withdrawn; nothing is counted',
      },
    ]);
  });

  test('of Idle marks the node, wakes it, counts nothing and makes no generation', () => {
    const life = crashedAt('StagedUpdate');
    life.to(60).due();
    life.to(119.999).due();
    expect(life.node.unreachableSince).toBeNull();
    life.to(120).due();
    expect(life.node).toMatchObject({ unreachableSince: at(120), crash: { count: 1 }, spec: { generation: 3 } });
    expect(life.facts).toEqual([
      {
        kind: 'event',
        type: 'Node Unreachable',
        severity: 'warning',
        message: 'did not come back to Idle within its deadline; it is woken again and nothing is counted',
      },
      wake(3, false),
    ]);
    life.to(125).due();
    expect(life.node.unreachableSince).toBe(at(120));
    expect(life.facts).toEqual([]);
  });

  test('of Idle runs from its own instant where nobody was told, and is no matter of a node that has reported since', () => {
    const untold = nodeAt('StagedUpdate');
    untold.to(720).due();
    untold.node = { ...untold.node, unreachableSince: null };
    untold.to(839).due();
    expect(untold.node.unreachableSince).toBeNull();
    untold.to(840).due();
    expect(untold.node).toMatchObject({ unreachableSince: at(840), crash: { count: 1 }, spec: { generation: 3 } });
    const reporting = crashedAt('StagedUpdate');
    reporting.to(120).report({ state: 'ErrorReset', agentVersion: '2' });
    reporting.due();
    expect(reporting.node.unreachableSince).toBeNull();
  });
});
