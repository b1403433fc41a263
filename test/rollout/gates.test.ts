/** What a ready node still waits for: one list that decides, explains and shows (DESIGN section 2b). */
import { describe, expect, test } from 'vitest';
import { WAITING_CODES } from '../../core/contract/words.ts';
import { nextInQueue } from '../../core/group/fill.ts';
import { GATES } from '../../core/rollout/gates.ts';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { at, crashedAt, type NodeLife, nodeAt } from '../node/life.ts';
import { changed, late, rolledBack } from '../node/situations.ts';

const waits = (life: NodeLife, group: Parameters<NodeLife['shown']>[0] = {}) => life.shown(group).waitingFor;

describe('the list', () => {
  test('is in the order in which the codes are said', () => {
    const codes = GATES.map(({ code }) => code);
    expect(codes).toEqual(WAITING_CODES.filter((code) => codes.includes(code)));
  });

  test.each([
    ['Held', ['start', 'activation', 'reboot'], false, false],
    ['GaveUp', ['start'], false, false],
    ['BackingOff', ['start'], false, false],
    ['VersionBlocked', ['start', 'activation'], true, false],
    ['Paused', ['start', 'activation', 'reboot'], false, true],
    ['AlarmRinging', ['start', 'activation', 'reboot'], false, true],
    ['VmBlocksMaintenance', ['activation', 'reboot'], false, false],
    ['NoSlot', ['start', 'activation'], false, false],
  ] as const)('%s is asked at %j; ends the attempt: %s; keeps the slot: %s', (code, stages, endsAttempt, keepsSlot) => {
    expect(GATES.find((gate) => gate.code === code)).toMatchObject({ at: stages, endsAttempt, keepsSlot });
  });
});

describe('what is shown', () => {
  test('the first that is closed, with its instant where one is known', () => {
    const crashed = crashedAt('StagedUpdate');
    crashed.to(1).report();
    expect(waits(crashed)).toEqual({ code: 'BackingOff', until: new Date(at(2)).toISOString() });
    expect(waits(nodeAt('Idle'), { paused: true, free: 0 })).toEqual({ code: 'Paused' });
    expect(waits(nodeAt('Idle'), { free: 0 })).toEqual({ code: 'NoSlot' });
  });

  test('nothing while a step is being done, and when nothing is offered but what runs', () => {
    expect(waits(nodeAt('StagedUpdate'), { paused: true })).toBeNull();
    const idle = nodeAt('Idle');
    idle.report({ updateCheck: { result: 'UpToDate' } });
    expect(waits(idle, { paused: true, free: 0 })).toBeNull();
  });
});

describe('a node that has crashed as often as its policy allows', () => {
  const gaveUp = (): NodeLife => {
    const life = nodeAt('Idle');
    life.policy = groupPolicyOf({ backoff: { preset: 'seed', giveUpAfter: 2 } });
    for (let crash = 0; crash < 2; crash += 1) {
      life.start();
      life.report({ state: 'ErrorReset', error: { reason: 'Broken' } });
      life.report();
      life.to(100);
    }
    return life;
  };

  test('is given up, and its record is not forgotten by time', () => {
    const life = gaveUp();
    expect(waits(life)).toEqual({ code: 'GaveUp' });
    expect(life.shown().phase).toBe('BackingOff');
    life.to(100_000).due();
    expect(life.node.crash.count).toBe(2);
    expect(life.send({ kind: 'start', claim: null, told: false }).kind).toBe('refused');
  });

  test('takes another version, and the same one when a person says retry, once', () => {
    const other = gaveUp();
    other.report({ updateCheck: { result: 'Available', version: '1.2' } });
    expect(waits(other)).toBeNull();
    const retried = gaveUp();
    retried.send({ kind: 'retry' });
    expect(waits(retried)).toBeNull();
    expect(retried.facts).toContainEqual({ kind: 'fill', group: 'default' });
    retried.start();
    retried.report({ state: 'ErrorReset', error: { reason: 'Broken' } });
    retried.report();
    retried.to(200);
    expect(waits(retried)).toEqual({ code: 'GaveUp' });
  });

  test('hides nobody who stands behind it in the queue', () => {
    const life = gaveUp();
    const behind = changed(nodeAt('Idle'), { crash: { ...life.node.crash, count: 9, towards: ['0.9'] } });
    behind.policy = life.policy;
    expect(nextInQueue([life.node, behind.node], life.group(), at(200))).toEqual([behind.node]);
  });
});

describe('a block of a version', () => {
  test('ends after 24 h also where the crash record is never forgotten, and with a retry', () => {
    const blocked = (): NodeLife => {
      const life = rolledBack();
      return changed(life, { crash: { ...life.node.crash, resetAt: null, retryAfter: null } });
    };
    const waiting = blocked();
    expect(waits(waiting)).toEqual({ code: 'VersionBlocked', until: new Date(at(86_400)).toISOString() });
    late(waiting, 86_400);
    expect(waits(waiting)).toBeNull();
    expect(waiting.node.blockedVersions).toEqual([]);
    expect(waiting.facts).toContainEqual({ kind: 'fill', group: 'default' });
    const retried = blocked();
    retried.send({ kind: 'retry' });
    expect(waits(retried)).toBeNull();
  });

  test('that was stored without its instant counts from the last crash', () => {
    const life = changed(rolledBack(), { blockedAt: {} });
    expect(life.shown().blockedVersions).toEqual(['1.1']);
    life.to(86_400);
    expect(life.shown().blockedVersions).toEqual([]);
  });
});

describe('an offer that is taken when the update is staged', () => {
  const staging = (version: string, blockedVersions: string[] = []): NodeLife => {
    const life = changed(nodeAt('StagedUpdate'), { blockedVersions, blockedAt: { [version]: at(0) } });
    life.report({ updateCheck: { result: 'Available', version } });
    life.to(5).report();
    return life;
  };

  test('and is blocked ends the attempt uncounted, and nothing begins for 20 min', () => {
    const life = staging('1.2', ['1.2']);
    expect(life.node).toMatchObject({ attempt: null, crash: { count: 0 }, spec: { state: 'Idle' } });
    life.node = {
      ...life.node,
      refusedOffer: life.node.refusedOffer ? { ...life.node.refusedOffer, offer: '1.1' } : null,
    };
    expect(waits(life)).toEqual({ code: 'VersionBlocked', until: new Date(at(1200)).toISOString() });
    life.to(1200).due();
    expect(waits(life)).toBeNull();
    expect(life.facts).toContainEqual({ kind: 'fill', group: 'default' });
  });

  test('and runs already ends the attempt uncounted, and waits for nothing that has a name', () => {
    const life = staging('1.0');
    expect(life.node).toMatchObject({ attempt: null, crash: { count: 0 }, refusedOffer: { code: null } });
    life.node = {
      ...life.node,
      refusedOffer: life.node.refusedOffer ? { ...life.node.refusedOffer, offer: '1.1' } : null,
    };
    expect(life.shown()).toMatchObject({ waitingFor: null, phase: 'Idle' });
    expect(life.send({ kind: 'start', claim: null, told: false }).kind).toBe('refused');
    life.putAt = at(6);
    life.to(7);
    expect(life.shown().phase).toBe('Queued');
  });

  test('another offer, or a retry, ends that wait', () => {
    const offered = staging('1.2', ['1.2']);
    offered.report({ updateCheck: { result: 'Available', version: '1.3' } });
    expect(waits(offered)).toBeNull();
    const retried = staging('1.2', ['1.2']);
    retried.send({ kind: 'retry' });
    expect(retried.node.refusedOffer).toBeNull();
  });
});

describe('a node that had to wait staged', () => {
  const waited = (): NodeLife => {
    const life = nodeAt('StagedUpdate');
    life.paused = true;
    life.report();
    return life;
  };

  test.each([
    ['offered another version begins anew', { result: 'Available', version: '1.2' }, 'Idle'],
    ['offered nothing any more gives it up', { result: 'UpToDate' }, 'Idle'],
    ['whose check fails waits on', { result: 'Failed', message: 'no route' }, 'StagedUpdate'],
    ['offered the same waits on', { result: 'Available', version: '1.1' }, 'StagedUpdate'],
  ] as const)('%s', (_what, updateCheck, state) => {
    const life = waited();
    life.to(60).report({ updateCheck });
    expect(life.node).toMatchObject({ spec: { state }, crash: { count: 0 } });
  });
});
