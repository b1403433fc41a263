/** Phase and explanation of a node: one sentence says why it is where it is, and what happens next and when (rule 10). */
import { describe, expect, test } from 'vitest';
import type { NodePhase } from '../../core/contract/words.ts';
import type { GroupSituation } from './life.ts';
import { at, crashedAt, iso, NODE, NodeLife, nodeAt } from './life.ts';
import {
  soon,
  withCheck,
  changed,
  held,
  asked,
  stagedInPause,
  soaking,
  soaked,
  waiting,
  again,
  rolledBack,
  late,
  failedOnce,
} from './situations.ts';

describe('phase and explanation', () => {
  test.each<[string, () => NodeLife, Partial<GroupSituation>, NodePhase, string]>([
    [
      'up to date',
      () => withCheck({ result: 'UpToDate' }),
      {},
      'Idle',
      'Up to date: runs 1.0 and nothing newer is offered to it; offers come in waves, so others may have one before it.',
    ],
    [
      'check failed',
      () => withCheck({ result: 'Failed', message: 'no route' }),
      {},
      'Idle',
      'Update check failed: no route; no update starts until a check succeeds.',
    ],
    [
      'never reported',
      () => changed(nodeAt('Idle'), { status: null }),
      {},
      'Idle',
      'Has not reported yet: nothing is known of it, and it is the last to be chosen; its first report brings it in.',
    ],
    [
      'waiting for a slot',
      () => nodeAt('Idle'),
      { free: 0, holders: ['i-b', 'i-c', 'i-d', 'i-e'] },
      'Queued',
      'Waits for a free slot of its group: 4 of 1 held by i-b, i-c, i-d and 1 more; it goes on when one of them is done. It could update to 1.1.',
    ],
    [
      'a slot is free',
      () => nodeAt('Idle'),
      { free: 1 },
      'Queued',
      'Could update to 1.1, and a slot of its group is free: it starts as soon as the group is filled, at the latest at the next sweep.',
    ],
    [
      'no limit',
      () => withCheck({ result: 'Available' }),
      { free: null },
      'Queued',
      'Could update to the version offered, and a slot of its group is free: it starts as soon as the group is filled, at the latest at the next sweep.',
    ],
    [
      'paused',
      () => nodeAt('Idle'),
      { paused: true },
      'Queued',
      'Its group is paused by ann until it is resumed. It could update to 1.1.',
    ],
    ['held', () => held(nodeAt('Idle')), {}, 'Held', 'Held by ann until it is released. It could update to 1.1.'],
    [
      'up to date in a paused group',
      () => withCheck({ result: 'UpToDate' }),
      { paused: true },
      'Idle',
      'Up to date: runs 1.0 and nothing newer is offered to it; offers come in waves, so others may have one before it.',
    ],
    [
      'asked',
      asked,
      {},
      'Updating',
      `Asked to reach StagedUpdate for 1.1, not picked up yet; the wake is repeated ${soon(60, '60 s')} and the step is withdrawn uncounted ${soon(2100, '35 min')}.`,
    ],
    [
      'asked, no repeat left',
      () => late(asked(), 600),
      {},
      'Updating',
      `Asked to reach StagedUpdate for 1.1, not picked up yet; the wake is repeated ${soon(4200, '60 min')} and the step is withdrawn uncounted ${soon(2100, '25 min')}.`,
    ],
    [
      'on the way',
      () => nodeAt('StagedUpdate'),
      {},
      'Updating',
      `On the way to StagedUpdate for 1.1; not there ${soon(720, '12 min')} counts as a crash.`,
    ],
    [
      'on the way, drain blocked',
      () => {
        const life = nodeAt('RebootedIntoUpdate');
        life.report({ state: 'PerformedUpdate', drain: { blockedBy: 'pod a' } });
        return life;
      },
      {},
      'Updating',
      `On the way to RebootedIntoUpdate for 1.1; not there ${soon(900, '15 min')} counts as a crash. Its drain is blocked by pod a.`,
    ],
    [
      'held under way',
      () => held(nodeAt('StagedUpdate')),
      {},
      'Held',
      `On the way to StagedUpdate for 1.1; not there ${soon(720, '12 min')} counts as a crash. It goes no further than that: held by ann.`,
    ],
    [
      'under way in a paused group',
      () => nodeAt('PerformedUpdate'),
      { paused: true },
      'Updating',
      `On the way to PerformedUpdate for 1.1; not there ${soon(300, '5 min')} counts as a crash. It goes no further than that: its group is paused by ann.`,
    ],
    [
      'staged in a paused group',
      stagedInPause,
      {},
      'Queued',
      'Its group is paused by ann until it is resumed. 1.1 is staged and not activated.',
    ],
    [
      'staged and held in a paused group',
      () => held(stagedInPause()),
      {},
      'Held',
      'Held by ann until it is released. 1.1 is staged and not activated. After that it still waits for: Paused, NoSlot.',
    ],
    [
      'staged, and let go on',
      () => {
        const life = stagedInPause();
        life.paused = false;
        life.to(100).send({ kind: 'proceed' });
        return life;
      },
      {},
      'Updating',
      `1.1 is staged and may be activated; the node is woken again ${soon(160, '60 s')}, and the update is withdrawn uncounted if it is not heard of ${soon(2200, '35 min')}.`,
    ],
    [
      'withdrawn by a hold',
      () => held(nodeAt('PerformedUpdate')),
      {},
      'Recovering',
      'Recovering: an update was withdrawn and nothing is counted (held by ann); the node undoes what it had prepared, and nothing moves until it reports Idle. It keeps its slot.',
    ],
    [
      'held once its reboot is decided',
      () => held(nodeAt('RebootedIntoUpdate')),
      {},
      'Held',
      `On the way to RebootedIntoUpdate for 1.1; not there ${soon(900, '15 min')} counts as a crash. It finishes this update although held by ann.`,
    ],
    [
      'on the way to its health checks',
      () => nodeAt('MonitoringUpdate'),
      {},
      'Monitoring',
      `On the way to MonitoringUpdate for 1.1; not there ${soon(300, '5 min')} counts as a crash.`,
    ],
    [
      'soaking',
      soaking,
      {},
      'Monitoring',
      `Runs 1.1 and is being watched; the update is complete with its first report after the soak time, which ends ${soon(120, '2 min')}, if no check fails; no report ${soon(300, '5 min')} counts as a crash.`,
    ],
    [
      'soaked',
      soaked,
      {},
      'Monitoring',
      'The update passed its monitoring; the crash record is cleared when the node reports Idle.',
    ],
    [
      'recovering',
      () => crashedAt('StagedUpdate'),
      {},
      'Recovering',
      `Recovering: Broken on the way to StagedUpdate (crash 1); nothing moves until it reports Idle, then the next attempt may begin ${soon(2, '2 s')}. It keeps its slot.`,
    ],
    [
      'recovering, held',
      () => held(crashedAt('StagedUpdate')),
      {},
      'Recovering',
      `Recovering: Broken on the way to StagedUpdate (crash 1); nothing moves until it reports Idle, then the next attempt may begin ${soon(2, '2 s')}. It keeps its slot.`,
    ],
    [
      'recovering from nothing of ours',
      () => {
        const life = withCheck({ result: 'UpToDate' });
        life.report({ state: 'StagedUpdate' });
        return life;
      },
      {},
      'Recovering',
      'Recovering: It reports StagedUpdate; nothing moves until it reports Idle.',
    ],
    [
      'backing off',
      waiting,
      {},
      'BackingOff',
      `Waits after a crash; the next attempt may begin ${soon(2, '1 s')}, and the record is forgotten ${soon(86_400, '24 h')}. It could update to 1.1.${failedOnce}`,
    ],
    [
      'backing off, never forgotten, more than once and without a message',
      () => changed(again(waiting()), { crash: { ...again(waiting()).node.crash, resetAt: null } }),
      {},
      'BackingOff',
      `Waits after a crash; the next attempt may begin ${soon(2, '1 s')}. It could update to 1.1. Crashed 3 times, last Broken on the way to StagedUpdate.`,
    ],
    [
      'blocked',
      () => late(rolledBack(), 120),
      {},
      'Idle',
      `Version 1.1 is blocked on this node because it booted back from it; it waits for another version, or for the end of the block ${soon(86_400, '23 h 58 min')}, or until a person says retry. Crashed once, last RolledBack on the way to RebootedIntoUpdate (booted back into 1.0 instead of 1.1).`,
    ],
    [
      'blocked for good',
      () => changed(nodeAt('Idle'), { blockedVersions: ['1.1'] }),
      {},
      'Idle',
      'Version 1.1 is blocked on this node because it booted back from it or failed its health checks there; it waits for another version, until the crash record is forgotten, or until a person says retry.',
    ],
    [
      'unreachable, its deadline passed',
      () => late(nodeAt('PerformedUpdate'), 300),
      {},
      'Unreachable',
      `Has not reported since ${iso(0)}: PerformedUpdate was not reached by ${iso(300)}, which counted as a crash; it is woken again ${soon(360, '60 s')} and goes on when it reports. It keeps its slot.`,
    ],
    [
      'unreachable on its way back',
      () => late(crashedAt('StagedUpdate'), 120),
      {},
      'Unreachable',
      `Has not reported since ${iso(0)}: a step was overdue at ${iso(120)}, and nothing was counted; it is woken again ${soon(240, '2 min')} and goes on when it reports. It keeps its slot.`,
    ],
    [
      'unreachable again after a deadline that passed',
      () => changed(late(nodeAt('PerformedUpdate'), 300), { unreachableSince: at(301) }),
      {},
      'Unreachable',
      `Has not reported since ${iso(0)}: a step was overdue at ${iso(301)}, and nothing was counted; it is woken again ${soon(360, '60 s')} and goes on when it reports. It keeps its slot.`,
    ],
    [
      'reporting a state that nobody wants, without a generation',
      () => {
        const life = withCheck({ result: 'UpToDate' });
        life.reportWithoutGeneration({ state: 'PerformedUpdate', updateCheck: { result: 'UpToDate' } });
        return life;
      },
      {},
      'Recovering',
      'Recovering: It reports PerformedUpdate; nothing moves until it reports Idle.',
    ],
    [
      'on the way to no named version',
      () => {
        const life = withCheck({ result: 'Available' });
        life.start();
        return life;
      },
      {},
      'Updating',
      `On the way to StagedUpdate for the version offered; not there ${soon(720, '12 min')} counts as a crash.`,
    ],
    [
      'unreachable, its step withdrawn',
      () => late(asked(), 2100),
      {},
      'Unreachable',
      `Has not reported since ${iso(0)}: a step was overdue at ${iso(2100)}, and nothing was counted; it is woken again ${soon(2160, '60 s')} and goes on when it reports.`,
    ],
    [
      'unreachable, not woken again',
      () => changed(late(asked(), 2100), { spec: { ...late(asked(), 2100).node.spec, nextWakeAt: null } }),
      {},
      'Unreachable',
      `Has not reported since ${iso(0)}: a step was overdue at ${iso(2100)}, and nothing was counted; it is woken again and goes on when it reports.`,
    ],
    [
      'silent',
      () => late(withCheck({ result: 'UpToDate' }), 5400),
      {},
      'Idle',
      `Up to date: runs 1.0 and nothing newer is offered to it; offers come in waves, so others may have one before it. It has been silent since ${iso(0)}.`,
    ],
    [
      'its wake failed',
      () => {
        const life = asked();
        life.send({ kind: 'wakeFailed', status: 'TimedOut', generation: null });
        return life;
      },
      {},
      'Updating',
      `Asked to reach StagedUpdate for 1.1, not picked up yet; the wake is repeated ${soon(30, '30 s')} and the step is withdrawn uncounted ${soon(2100, '35 min')}. The last wake ended TimedOut and is repeated ${soon(30, '30 s')}.`,
    ],
    [
      'its last wake failed',
      () => changed(withCheck({ result: 'UpToDate' }), { wakeFailure: { status: 'Failed', at: at(0) } }),
      {},
      'Idle',
      'Up to date: runs 1.0 and nothing newer is offered to it; offers come in waves, so others may have one before it. The last wake ended Failed.',
    ],
    [
      'of an undeclared group',
      () => withCheck({ result: 'UpToDate' }),
      { declared: false },
      'Idle',
      'Up to date: runs 1.0 and nothing newer is offered to it; offers come in waves, so others may have one before it. Group default is not declared and has the policy of default.',
    ],
    [
      'removed',
      () => changed(nodeAt('Idle'), { removed: { at: at(0), reason: 'terminated' } }),
      {},
      'Idle',
      'Removed: terminated.',
    ],
  ])('%s', (_what, make, group, phase, explanation) => {
    expect(make().shown(group)).toMatchObject({ phase, explanation });
  });
});

test('a node is shown as a whole', () => {
  const life = crashedAt('StagedUpdate');
  life.to(5).report({ agentVersion: '0.1.9' });
  expect(life.shown()).toEqual({
    nodeId: NODE,
    attention: { code: 'Crashed', cause: 'Broken: it broke' },
    group: 'default',
    spec: { state: 'Idle', version: null, generation: 3, since: iso(0) },
    status: {
      state: 'Idle',
      currentVersion: '1.0',
      bootId: 'b1',
      reportedAt: iso(5),
      updateCheck: { result: 'Available', version: '1.1' },
      agentVersion: '0.1.9',
    },
    crash: {
      count: 1,
      firstAt: iso(0),
      lastAt: iso(0),
      retryAfter: iso(2),
      resetAt: iso(86_400),
      lastState: 'StagedUpdate',
      lastReason: 'Broken',
      lastMessage: 'it broke',
    },
    blockedVersions: [],
    heldBy: null,
    can: { retry: null, hold: null, release: null, fence: null, move: null, delete: null },
    phase: 'Queued',
    zone: 'none',
    waitingFor: null,
    explanation: `Could update to 1.1, and a slot of its group is free: it starts as soon as the group is filled, at the latest at the next sweep.${failedOnce}`,
  });
  expect(changed(nodeAt('Idle'), { status: null }).shown()).toMatchObject({
    status: null,
    crash: { firstAt: null, retryAfter: null },
  });
});
