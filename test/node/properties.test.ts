import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import { NODE_STATES, REPORTED_STATES } from '../../core/contract/words.ts';
import { DEFAULT_GROUP, parseNodeId } from '../../core/kit/ids.ts';
import { decideNode } from '../../core/node/decide.ts';
import type { NodeEvent } from '../../core/node/event.ts';
import { offerOf } from '../../core/node/offer.ts';
import { type NodeRecord, waitsStaged } from '../../core/node/record.ts';
import { NEXT_STATE } from '../../core/node/spec.ts';
import { nodeDueAt } from '../../core/node/timing.ts';
import type { GroupView } from '../../core/group/view.ts';
import { type GroupPolicy, groupPolicyOf } from '../../core/policy/group-policy.ts';
import { after, instant, type Instant, seconds } from '../../core/kit/time.ts';
import { frozen } from '../kit/frozen.ts';
import { calmRollout } from '../rollout/calm.ts';

const nodeId = parseNodeId('i-0000000000000000a') ?? expect.fail('a node id');

type Action =
  | { do: 'wait'; seconds: number; timer: boolean }
  | { do: 'report'; report: ReportShape }
  | { do: 'repeat' }
  | { do: 'start' | 'retry' | 'hold' | 'release' | 'proceed' | 'fence' | 'wakeFailed' | 'stopped' | 'running' };
type ReportShape = {
  state: NodeReport['state'];
  generation: 'current' | 'older' | 'none';
  boots: boolean;
  version: '1.0' | '1.1';
  offered: boolean;
  reason: string;
};

const reportShape: fc.Arbitrary<ReportShape> = fc.record({
  state: fc.constantFrom(...REPORTED_STATES),
  generation: fc.constantFrom('current', 'current', 'current', 'older', 'none'),
  boots: fc.boolean(),
  version: fc.constantFrom('1.0', '1.1'),
  offered: fc.boolean(),
  reason: fc.constantFrom('DrainFailed', 'DrainBlocked', ''),
});
/** The report that a healthy agent would make now: without it most runs would never get anywhere. */
const action: fc.Arbitrary<Action | { do: 'obey' }> = fc.oneof(
  { weight: 9, arbitrary: fc.constant({ do: 'obey' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('report' as const), report: reportShape }) },
  { weight: 1, arbitrary: fc.constant({ do: 'repeat' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(0, 1, 7, 60, 130, 130, 700, 2200, 4000, 90_000),
      timer: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'start' as const,
        'start' as const,
        'start' as const,
        'retry' as const,
        'hold' as const,
        'release' as const,
        'proceed' as const,
        'fence' as const,
        'wakeFailed' as const,
        'stopped' as const,
        'running' as const,
      ),
    }),
  },
);

type Seen = { before: NodeRecord | null; event: NodeEvent; node: NodeRecord; now: Instant; counted: number };

type Situation = { policy: GroupPolicy; paused: boolean };

/** Plays the actions, and hands every decision to the judge. */
function play(actions: readonly (Action | { do: 'obey' })[], situation: Situation, judge: (seen: Seen) => void): void {
  const view: GroupView = {
    group: DEFAULT_GROUP,
    declared: true,
    policy: situation.policy,
    putAt: null,
    pausedBy: situation.paused ? 'ann' : null,
    slots: { limit: 1, holders: [], uncounted: 0, counting: false, room: null, free: 1 },
    rollout: calmRollout(situation.policy, instant(1_800_000_000_000)),
  };
  let now = instant(1_800_000_000_000);
  let node: NodeRecord | null = null;
  let uptime = 100;
  let boot = 0;
  let last: NodeReport | null = null;
  const decide = (event: NodeEvent): void => {
    const before = frozen(node);
    const context = { nodeId, now, group: view };
    const outcome = decideNode(before, event, context);
    expect(decideNode(before, event, context)).toEqual(outcome);
    if (outcome.kind !== 'changed') {
      if (before !== null) judge({ before, event, node: before, now, counted: 0 });
      return;
    }
    const counted = outcome.facts.filter((fact) => fact.kind === 'metric' && fact.name === 'NodeCrash').length;
    expect(outcome.next.revision).toBe((before?.revision ?? 0) + 1);
    node = outcome.next;
    judge({ before, event, node, now, counted });
  };
  const report = (shape: ReportShape): void => {
    if (shape.boots) boot += 1;
    uptime = shape.boots ? 5 : uptime + 5;
    const generation: number = (node?.spec.generation ?? 1) - (shape.generation === 'older' ? 1 : 0);
    last = {
      ...(shape.generation === 'none' ? {} : { generation }),
      state: shape.state,
      bootId: `boot-${boot}`,
      uptime,
      currentVersion: shape.version,
      updateCheck: shape.offered ? { result: 'Available', version: '1.1' } : { result: 'UpToDate' },
      error: { reason: shape.reason },
    };
    decide({ kind: 'report', report: last });
  };
  const healthy = (): ReportShape => {
    const state: NodeReport['state'] = node?.spec.state ?? 'Idle';
    const boots = state === 'RebootedIntoUpdate' && node?.spec.reachedAt === null;
    const updated = state === 'RebootedIntoUpdate' || state === 'MonitoringUpdate';
    const version = updated || node?.status?.currentVersion === '1.1' ? '1.1' : '1.0';
    return { state, generation: 'current', boots, version, offered: true, reason: '' };
  };
  const act = (one: Action | { do: 'obey' }): void => {
    switch (one.do) {
      case 'wait': {
        now = after(now, seconds(one.seconds));
        const due = node === null ? null : nodeDueAt(node);
        if (one.timer && due !== null && due <= now) decide({ kind: 'due' });
        break;
      }
      case 'obey':
        report(healthy());
        break;
      case 'report':
        report(one.report);
        break;
      case 'repeat':
        if (last !== null) decide({ kind: 'report', report: last });
        break;
      case 'start':
        decide({ kind: 'start', claim: { claimId: `claim-${now}`, at: now }, told: true });
        break;
      case 'hold':
      case 'fence':
        decide({ kind: one.do, by: 'operator' });
        break;
      case 'wakeFailed':
        decide({ kind: 'wakeFailed', status: 'Failed', generation: null });
        break;
      case 'stopped':
      case 'running':
        decide({ kind: one.do, at: now });
        break;
      case 'retry':
      case 'release':
      case 'proceed':
        decide({ kind: one.do });
        break;
    }
  };
  for (const one of actions) act(one);
}

const policies = fc.constantFrom(
  groupPolicyOf({}),
  groupPolicyOf({ backoff: { preset: 'brupop' } }),
  groupPolicyOf({ backoff: { unit: '1h', from: 'lastCrash', cap: '2h', resetAfter: '3h' } }),
);

function always(judge: (seen: Seen) => void): void {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), policies, fc.boolean(), (actions, policy, paused) => {
      play(actions, { policy, paused }, judge);
    }),
    { numRuns: 300 },
  );
}

describe('whatever happens to a node, in whatever order', () => {
  test('G1: a failed step is counted once, and only together with a new Idle generation', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), policies, (actions, policy) => {
        const failed = new Set<number>();
        play(actions, { policy, paused: false }, ({ before, node, counted }) => {
          if (counted === 0) {
            expect(node.crash.count).toBeLessThanOrEqual(before?.crash.count ?? 0);
            return;
          }
          expect(counted).toBe(1);
          const generation = before?.spec.generation ?? 0;
          expect(failed.has(generation)).toBe(false);
          failed.add(generation);
          if (before?.spec.state === 'Idle') expect(node.crash.lastReason).toBe('RolledBack');
          expect(node.spec).toMatchObject({ state: 'Idle', generation: generation + 1 });
          expect(node.crash.lastState).toBe(before?.spec.state);
        });
      }),
      { numRuns: 300 },
    );
  });

  test('G2: no attempt begins before retryAfter; the retry verb is what clears it', () => {
    always(({ before, node, now }) => {
      if (before?.spec.state !== 'Idle' || node.spec.state !== 'StagedUpdate') return;
      expect(before.crash.retryAfter ?? now).toBeLessThanOrEqual(now);
      expect(before.attempt).toBeNull();
      expect(before.heldBy).toBeNull();
    });
  });

  test('G7: the spec is a state of the table and moves only along it, one generation at a time', () => {
    always(({ before, node }) => {
      expect(NODE_STATES).toContain(node.spec.state);
      if (before === null || before.spec.generation === node.spec.generation) {
        if (before !== null) expect(node.spec.state).toBe(before.spec.state);
        return;
      }
      expect(node.spec.generation).toBe(before.spec.generation + 1);
      expect([NEXT_STATE[before.spec.state], 'Idle']).toContain(node.spec.state);
      const backAgain = node.crash.lastReason === 'RolledBack' && node.crash.count > before.crash.count;
      expect(node.spec.state === 'Idle' && before.spec.state === 'Idle' && !backAgain).toBe(false);
      const onward = NEXT_STATE[before.spec.state] === node.spec.state && node.crash.count === before.crash.count;
      if (onward && before.spec.state !== 'Idle' && node.attempt !== null) {
        expect(before.spec.reachedAt !== null || node.status?.state === before.spec.state).toBe(true);
      }
    });
  });

  test('G8: the crash record is cleared on Idle after a success, or once resetAt has passed, and nowhere else', () => {
    always(({ before, event, node, now }) => {
      if (before === null || before.crash.count === 0 || node.crash.count > 0) return;
      const resetPassed = before.crash.resetAt !== null && before.crash.resetAt <= now;
      const finished =
        before.attempt?.succeeded === true &&
        event.kind === 'report' &&
        event.report.state === 'Idle' &&
        node.spec.state === 'Idle';
      expect(resetPassed || finished).toBe(true);
    });
  });

  test('G3: handling what is due makes the next instant later: no timer fires in a loop', () => {
    always(({ node, now, before }) => {
      if (before === null) return;
      const due = nodeDueAt(node);
      if (due === null) return;
      const at = due > now ? due : now;
      const outcome = decideNode(node, { kind: 'due' }, { nodeId, now: at, group: null });
      // What its VMs have not been told yet stays due until they have been: only `told` ends that.
      const told = outcome.kind === 'changed' ? { ...outcome.next, untold: null } : { ...node, untold: null };
      const next = nodeDueAt(told);
      if (next !== null) expect(next).toBeGreaterThan(at);
    });
  });

  test('G3: what waits has an instant, or waits for a person, a slot or a report', () => {
    always(({ node }) => {
      if (nodeDueAt(node) !== null) return;
      const may = offerOf(node).kind;
      // What EC2 stopped waits for EC2 or for a report.
      if (may === 'stopped') return;
      const there = ['newer', 'upToDate', 'checkFailed', 'notReported', 'recovering'].includes(may);
      expect(waitsStaged(node) || there).toBe(true);
      expect(node.spec.reachedAt !== null || node.status === null).toBe(true);
    });
  });

  test('a report that comes twice changes nothing the second time', () => {
    always(({ event, node, now }) => {
      if (event.kind !== 'report') return;
      const again = decideNode(node, event, { nodeId, now, group: null });
      expect(again.kind === 'changed' ? again.next : again.kind).not.toHaveProperty('revision');
    });
  });

  test('a hold or a pause never lets a node go on to its reboot', () => {
    always(({ before, event, node }) => {
      if (before?.spec.state !== 'PerformedUpdate' || node.spec.state !== 'RebootedIntoUpdate') return;
      expect(before.heldBy !== null && event.kind !== 'release').toBe(false);
      expect(before.spec.state === 'PerformedUpdate' && node.heldBy !== null).toBe(false);
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        play(actions, { policy: groupPolicyOf({}), paused: true }, ({ node }) => {
          expect(node.group).toBe(DEFAULT_GROUP);
          expect(['StagedUpdate', 'PerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate']).not.toContain(
            node.spec.state,
          );
        });
      }),
      { numRuns: 100 },
    );
  });

  test('the runs do get somewhere: updates complete, nodes crash and come back', () => {
    let updated = 0;
    let crashed = 0;
    fc.assert(
      fc.property(fc.array(action, { minLength: 40, maxLength: 60 }), (actions) => {
        play(actions, { policy: groupPolicyOf({}), paused: false }, ({ before, node, counted }) => {
          crashed += counted;
          if (before?.attempt?.succeeded === true && node.attempt === null) updated += 1;
        });
      }),
      { numRuns: 200, seed: 7 },
    );
    expect(updated).toBeGreaterThan(5);
    expect(crashed).toBeGreaterThan(20);
  });
});
