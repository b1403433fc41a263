/** How a node is led through an update: what each decision writes down, and what it makes happen (DESIGN section 2). */
import { describe, expect, test } from 'vitest';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { hours, minutes } from '../../core/kit/time.ts';
import { at, crashedAt, NODE, NodeLife, nodeAt, UPDATED } from './life.ts';

const wake = (generation: number, decided = true) => ({
  kind: 'wake',
  hostId: NODE,
  action: 'DriveNode',
  generation,
  decided,
});

describe('a start', () => {
  test('makes a new generation, wakes the node and notes what is replaced', () => {
    const life = nodeAt('Idle');
    life.policy = groupPolicyOf({ monitor: { soak: '7m' } });
    life.to(5).start();
    expect(life.node.spec).toEqual({
      state: 'StagedUpdate',
      version: '1.1',
      generation: 2,
      since: at(5),
      acknowledgedAt: at(5),
      reachedAt: null,
      nextWakeAt: null,
      wakesRepeated: 0,
    });
    expect(life.node.attempt).toEqual({
      claimId: 'claim-1',
      unlimited: false,
      version: '1.1',
      fromVersion: '1.0',
      fromBootId: 'b1',
      startedAt: at(5),
      succeeded: false,
    });
    expect(life.node).toMatchObject({ waitingSince: null, policy: { soak: minutes(7) } });
    expect(life.node.policy).not.toHaveProperty('concurrency');
    expect(life.facts).toEqual([
      wake(2),
      { kind: 'event', type: 'Node Update Started', severity: 'info', message: 'update from 1.0 to 1.1 begins' },
    ]);
  });

  test('that is not the answer to a report is not acknowledged, and its wake is repeated after a minute', () => {
    const life = nodeAt('Idle');
    life.start(false);
    expect(life.node.spec).toMatchObject({ acknowledgedAt: null, nextWakeAt: at(60) });
  });

  test('without a version offered takes the one that is offered then', () => {
    const life = new NodeLife();
    life.report({ updateCheck: { result: 'Available' } });
    life.start();
    expect(life.messages).toEqual(['Node Update Started: update from 1.0 to the version offered begins']);
    expect(life.node.spec.version).toBeNull();
  });

  test('under no limit has no slot, and says so', () => {
    const life = nodeAt('Idle');
    life.send({ kind: 'start', claim: null, told: true });
    expect(life.node.attempt).toMatchObject({ claimId: null, unlimited: true });
  });

  test('is refused 90 s after its slot was claimed, not a moment earlier', () => {
    const claim = { claimId: 'claim-1', at: at(0) };
    const late = nodeAt('Idle');
    late.now = at(90.001);
    expect(late.refused({ kind: 'start', claim, told: true })).toEqual({
      status: 409,
      code: 'ClaimExpired',
      detail: `the slot for node ${NODE} was claimed too long ago`,
    });
    const soon = nodeAt('Idle');
    soon.now = at(90);
    expect(soon.send({ kind: 'start', claim, told: true }).kind).toBe('changed');
  });

  test('is refused while its group is paused, and when the node is not ready', () => {
    const paused = nodeAt('Idle');
    paused.paused = true;
    const start = { kind: 'start', claim: null, told: true } as const;
    expect(paused.refused(start)).toEqual({
      status: 409,
      code: 'NodeNotReady',
      detail: `node ${NODE} cannot start: Paused`,
    });
    const held = nodeAt('Idle');
    held.send({ kind: 'hold', by: 'ann' });
    expect(held.refused(start)).toEqual({
      status: 409,
      code: 'NodeNotReady',
      detail: `node ${NODE} cannot start: Held`,
    });
  });
});

describe('a step that is reached', () => {
  test('StagedUpdate is followed by PerformedUpdate, for the version that was staged', () => {
    const life = nodeAt('StagedUpdate');
    life.to(9).report({ updateCheck: { result: 'Available', version: '1.2' } });
    expect(life.node.spec).toMatchObject({ state: 'PerformedUpdate', version: '1.2', generation: 3, since: at(9) });
    expect(life.node.attempt).toMatchObject({ version: '1.2', fromBootId: 'b1', succeeded: false });
    expect(life.facts).toEqual([
      wake(3),
      {
        kind: 'event',
        type: 'Node Update Step',
        severity: 'info',
        message: 'StagedUpdate reached; now PerformedUpdate',
      },
    ]);
  });

  test('a version is taken over only in StagedUpdate, and only from an offer', () => {
    const staged = nodeAt('StagedUpdate');
    staged.report({ updateCheck: { result: 'UpToDate', version: '1.3' } });
    expect(staged.node.spec.version).toBe('1.1');
    const performed = nodeAt('PerformedUpdate');
    performed.report({ updateCheck: { result: 'Available', version: '1.3' } });
    expect(performed.node.spec).toMatchObject({ state: 'RebootedIntoUpdate', version: '1.1' });
  });

  test('PerformedUpdate notes the boot that the reboot must replace, and no other step does', () => {
    const staged = nodeAt('StagedUpdate');
    staged.report({ bootId: 'b1b' });
    expect(staged.node.attempt?.fromBootId).toBe('b1');
    const life = nodeAt('PerformedUpdate');
    life.report({ bootId: 'b1b' });
    expect(life.node.attempt?.fromBootId).toBe('b1b');
  });

  test('a boot that is in the new version already is not the one to be replaced', () => {
    const life = nodeAt('PerformedUpdate');
    life.report({ bootId: 'b2', currentVersion: '1.1' });
    expect(life.node.attempt?.fromBootId).toBe('b1');
    life.report({ bootId: 'b2', currentVersion: '1.1' });
    expect(life.node.spec.state).toBe('MonitoringUpdate');
  });

  test('RebootedIntoUpdate is not reached in the old boot', () => {
    const life = nodeAt('RebootedIntoUpdate');
    life.report({ bootId: 'b1', currentVersion: '1.0' });
    expect(life.node.spec).toMatchObject({ state: 'RebootedIntoUpdate', reachedAt: null });
    expect(life.facts).toEqual([]);
  });

  test('MonitoringUpdate ends with the first report after the soak time, to the moment, and by no clock', () => {
    const life = nodeAt('MonitoringUpdate');
    life.report(UPDATED);
    expect(life.node.spec).toMatchObject({ state: 'MonitoringUpdate', reachedAt: at(0), version: '1.1' });
    life.told().to(119.999).report(UPDATED);
    expect(life.node.spec.state).toBe('MonitoringUpdate');
    expect(life.to(120).due().kind).toBe('unchanged');
    life.report(UPDATED);
    expect(life.node.spec).toMatchObject({ state: 'Idle', version: null, reachedAt: null });
    expect(life.node.attempt?.succeeded).toBe(true);
    expect(life.messages).toEqual(['Node Update Step: MonitoringUpdate reached; now Idle']);
  });

  test('a state is reached once, and only by a report of that state', () => {
    const life = nodeAt('MonitoringUpdate');
    life.report({ ...UPDATED, state: 'RebootedIntoUpdate' });
    expect(life.node.spec.reachedAt).toBeNull();
    expect(life.facts).toEqual([]);
    life.report(UPDATED);
    life.to(7).report(UPDATED);
    expect(life.node.spec.reachedAt).toBe(at(0));
  });

  test('Idle after the soak time is success: slot freed, record cleared', () => {
    const life = crashedAt('PerformedUpdate');
    life.to(3).report();
    life.start();
    life.report();
    life.report();
    life.report(UPDATED);
    life.report(UPDATED);
    life.to(123).report(UPDATED);
    expect(life.node.crash.count).toBe(1);
    life.to(124).report(UPDATED);
    expect(life.node).toMatchObject({ attempt: null, crash: { count: 0, firstAt: null }, blockedVersions: [] });
    expect(life.node.spec).toMatchObject({ reachedAt: at(124), nextWakeAt: null });
    expect(life.facts).toEqual([
      { kind: 'slotReleased', group: 'default', claimId: 'claim-1' },
      { kind: 'event', type: 'Node Updated', severity: 'info', message: 'updated from 1.0 to 1.1' },
    ]);
  });

  test('a node without a limit that is back in Idle asks for a fill instead of freeing a slot', () => {
    const life = nodeAt('Idle');
    life.send({ kind: 'start', claim: null, told: true });
    life.report({ state: 'ErrorReset' });
    life.to(1).report({ state: 'Idle', updateCheck: { result: 'UpToDate' } });
    expect(life.kinds()).toEqual(['fill', 'event']);
    expect(life.node.attempt).toBeNull();
    const ready = nodeAt('Idle');
    ready.send({ kind: 'start', claim: null, told: true });
    ready.report({ state: 'ErrorReset' });
    ready.to(3).report({ state: 'Idle' });
    expect(ready.node.waitingSince).toBe(at(3));
    expect(ready.kinds()).toEqual(['fill', 'event']);
  });

  test('a node that was not under way becomes Idle without a word', () => {
    const life = new NodeLife();
    life.report({ state: 'PerformedUpdate', updateCheck: { result: 'UpToDate' } });
    expect(life.node.spec.reachedAt).toBeNull();
    life.to(2).report({ updateCheck: { result: 'UpToDate' } });
    expect(life.node.spec.reachedAt).toBe(at(2));
    expect(life.facts).toEqual([]);
  });
});

test('the first report enrols a node: its record is this, and no other', () => {
  const life = new NodeLife();
  life.policy = groupPolicyOf({ backoff: { preset: 'brupop' }, monitor: { soak: '1h' } });
  life.report({ updateCheck: { result: 'UpToDate' }, agentVersion: '0.9', drain: { blockedBy: ['a', 'b'] } });
  expect(life.node).toMatchObject({
    kind: 'node',
    revision: 1,
    nodeId: NODE,
    group: 'default',
    spec: {
      state: 'Idle',
      version: null,
      generation: 1,
      since: at(0),
      acknowledgedAt: at(0),
      reachedAt: at(0),
      nextWakeAt: null,
      wakesRepeated: 0,
    },
    status: {
      state: 'Idle',
      currentVersion: '1.0',
      bootId: 'b1',
      uptime: 1,
      reportedAt: at(0),
      updateCheck: { result: 'UpToDate' },
      agentVersion: '0.9',
      drainBlockedBy: 'a, b',
    },
    previousBoots: [],
    attempt: null,
    crash: { count: 0, firstAt: null, lastAt: null, retryAfter: null, resetAt: null },
    blockedVersions: [],
    heldBy: null,
    waitingSince: null,
    unreachableSince: null,
    silentSince: null,
    fencedAt: null,
    wakeFailure: null,
    removed: null,
    policy: { soak: hours(1), backoff: { from: 'lastCrash' } },
  });
  expect(life.facts).toEqual([
    { kind: 'enrolled', group: 'default' },
    { kind: 'event', type: 'Node Enrolled', severity: 'info', message: 'first report: 1.0 in group default' },
  ]);
  expect(life.node.events).toEqual([
    {
      id: `node/${NODE}/1`,
      at: at(0),
      type: 'Node Enrolled',
      severity: 'info',
      message: 'first report: 1.0 in group default',
    },
  ]);
});
