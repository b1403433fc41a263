/** What a boot proves: a fall back is never a success, in the soak, after it, or a day later (DESIGN section 2 rule 5). */
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { describe, expect, test } from 'vitest';
import { at, type NodeLife, nodeAt, UPDATED } from './life.ts';
import { soaked, soaking } from './situations.ts';

const OLD = { bootId: 'b3', currentVersion: '1.0' } as const;

const attemptOf = (life: NodeLife) => life.node.attempt ?? expect.fail('it is under way');

/** An update that is complete at 125 s. */
const completed = (): NodeLife => {
  const life = soaked();
  life.to(125).report({ ...UPDATED, state: 'Idle' });
  expect(life.node).toMatchObject({ attempt: null, completed: { version: '1.1', from: '1.0', bootId: 'b2' } });
  return life;
};

describe('with a new boot the reboot is', () => {
  test.each([
    ['reached by the target', '1.1', 'MonitoringUpdate', 0],
    ['reached by a version newer than the one it left', '1.0.5', 'MonitoringUpdate', 0],
    ['reached by one newer than the target', '1.2', 'MonitoringUpdate', 0],
    ['rolled back by the same', '1.0', 'Idle', 1],
    ['rolled back by an older one: another slot', '0.9', 'Idle', 1],
    ['rolled back by one that has no order', 'nightly', 'Idle', 1],
  ])('%s', (_what, currentVersion, state, count) => {
    const life = nodeAt('RebootedIntoUpdate');
    life.report({ bootId: 'b2', currentVersion });
    const lastReason = count === 0 ? null : 'RolledBack';
    expect(life.node).toMatchObject({ spec: { state }, crash: { count, lastReason } });
    expect(life.node.blockedVersions).toEqual(count === 0 ? [] : ['1.1']);
  });

  test('on the way down nothing but the target', () => {
    const life = nodeAt('RebootedIntoUpdate');
    life.node = { ...life.node, attempt: { ...attemptOf(life), version: '0.9' } };
    life.report({ bootId: 'b2', currentVersion: '1.1' });
    expect(life.node.crash).toMatchObject({ count: 1, lastReason: 'RolledBack' });
  });
});

describe('a fall back', () => {
  test.each<[string, () => NodeLife, object]>([
    ['in the soak time', soaking, { state: 'MonitoringUpdate' }],
    ['in the soak time, reported as a failure', soaking, { state: 'ErrorReset' }],
    ['between the soak time and Idle', soaked, { state: 'Idle' }],
    ['between the soak time and Idle, told as the state it was in', soaked, { state: 'RebootedIntoUpdate' }],
  ])('%s is counted once, and its version is blocked', (_what, make, more) => {
    const life = make();
    life.to(130).report({ ...OLD, ...more });

    expect(life.node).toMatchObject({ spec: { state: 'Idle' }, blockedVersions: ['1.1'] });
    expect(life.node.crash).toMatchObject({ count: 1, lastReason: 'RolledBack', retryAfter: at(250) });
    life.to(135).report(OLD);
    life.to(140).report({ ...OLD, bootId: 'b4' });
    expect(life.node).toMatchObject({ attempt: null, crash: { count: 1 } });
    expect(life.messages.join()).not.toContain('Node Updated');
  });

  test('by an agent that lost its record is seen when it says Idle, and else when the deadline passes', () => {
    const atEnd = soaked();
    atEnd.to(130).reportWithoutGeneration(OLD);
    expect(atEnd.node.crash).toMatchObject({ count: 1, lastReason: 'RolledBack' });
    const watched = soaking();
    watched.to(60).reportWithoutGeneration({ ...OLD, state: 'ErrorReset' });
    expect(watched.node.crash.count).toBe(0);
    watched.to(300).due();
    expect(watched.node).toMatchObject({ crash: { count: 1, lastReason: 'RolledBack' }, blockedVersions: ['1.1'] });
  });
});

describe('a late fall back', () => {
  test.each<[string, (life: NodeLife) => unknown]>([
    ['is a crash with lastState Idle', (life) => life.report({ ...OLD, state: 'Idle' })],
    ['also of an agent that lost its record', (life) => life.reportWithoutGeneration(OLD)],
    ['also into a third, older version', (life) => life.report({ ...OLD, currentVersion: '0.9' })],
    ['also as the last boot but one', (life) => life.report({ ...OLD, state: 'ErrorReset' })],
  ])('%s', (_what, fall) => {
    const life = completed();
    life.to(86_524);
    fall(life);
    expect(life.node).toMatchObject({ spec: { state: 'Idle' }, blockedVersions: ['1.1'], completed: null });
    expect(life.node.crash).toMatchObject({ count: 1, lastState: 'Idle', lastReason: 'RolledBack', towards: ['1.1'] });
    expect(life.node.crash.retryAfter).toBe(at(86_644));
  });

  test('is none after a day, into a newer version, or in the same boot', () => {
    const late = completed();
    late.to(125 + 86_400).report({ ...OLD, state: 'Idle' });
    expect(late.node.crash.count).toBe(0);
    const newer = completed();
    newer.report({ bootId: 'b3', currentVersion: '1.2', updateCheck: { result: 'UpToDate' } });
    expect(newer.node.crash.count).toBe(0);
    const same = completed();
    same.report({ bootId: 'b2', currentVersion: '1.0' });
    expect(same.node.crash.count).toBe(0);
  });

  test('on the way back from the crash of another attempt is not judged, by that report or by a later one', () => {
    const life = completed();
    life.node = { ...life.node, attempt: { ...attemptOf(nodeAt('StagedUpdate')), version: '1.2', fromVersion: '1.1' } };
    life.node = { ...life.node, spec: { ...life.node.spec, reachedAt: null } };
    life.to(400).report({ ...OLD, generation: undefined, state: 'Idle' });
    expect(life.node).toMatchObject({ attempt: null, completed: null, crash: { count: 0 } });
    life.to(420).report({ ...OLD, state: 'Idle' });
    life.to(500).report({ ...OLD, bootId: 'b5', state: 'Idle' });
    expect(life.node).toMatchObject({ spec: { state: 'Idle' }, crash: { count: 0 }, blockedVersions: [] });
  });

  test('ends the attempt that is under way, unless that is where it was going', () => {
    const going = (version: string): NodeLife => {
      const life = completed();
      life.policy = groupPolicyOf({ version: { allowDowngrade: true } });
      life.to(200).report({ ...UPDATED, updateCheck: { result: 'Available', version } });
      life.start();
      expect(life.node.spec).toMatchObject({ state: 'StagedUpdate', version });
      life.to(210).report({ ...OLD, state: 'Idle' });
      return life;
    };
    expect(going('1.2').node).toMatchObject({ spec: { state: 'Idle' }, crash: { count: 1 }, blockedVersions: ['1.1'] });
    expect(going('1.0').node).toMatchObject({ spec: { state: 'StagedUpdate' }, crash: { count: 0 } });
  });
});

describe('while the update is being watched', () => {
  test('no report, no success: what died in the soak is a crash', () => {
    const life = soaking();
    life.to(299).due();
    expect(life.node.crash.count).toBe(0);
    life.to(300).due();
    expect(life.node).toMatchObject({ crash: { count: 1, lastReason: 'DeadlinePassed' }, unreachableSince: at(300) });
  });

  test('a report that comes after that and before anybody looked is a success', () => {
    const life = soaking();
    life.to(400).report(UPDATED);
    expect(life.node).toMatchObject({ spec: { state: 'Idle' }, attempt: { succeeded: true } });
  });

  test('another boot begins the watch anew, its deadline too, and the third is a crash', () => {
    const life = soaking();
    life.to(100).report({ ...UPDATED, bootId: 'b3' });
    expect(life.node.spec).toMatchObject({ state: 'MonitoringUpdate', reachedAt: at(100), acknowledgedAt: at(100) });
    life.to(150).report({ ...UPDATED, bootId: 'b4', state: 'RebootedIntoUpdate' });
    expect(life.node.spec).toMatchObject({ state: 'MonitoringUpdate' });
    life.to(219).report({ ...UPDATED, bootId: 'b4' });
    life.to(230).report({ ...UPDATED, bootId: 'b5' });
    expect(life.node.crash).toMatchObject({ count: 1, lastReason: 'UnstableBoot', lastState: 'MonitoringUpdate' });
    expect(life.node.blockedVersions).toEqual([]);
  });

  test('a step begun by a release before this, which did not write the boot down, goes on', () => {
    const life = soaking();
    const { watch: _notWritten, ...before } = attemptOf(life);
    life.node = { ...life.node, attempt: before };
    life.to(60).report({ ...UPDATED, bootId: 'b3' });
    expect(life.node).toMatchObject({ spec: { reachedAt: at(60) }, attempt: { watch: { reboots: 1 } } });
    life.to(180).report({ ...UPDATED, bootId: 'b3' });
    expect(life.node.spec.state).toBe('Idle');
  });
});
