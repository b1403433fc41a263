/** A node as the host of VMs: when its update disturbs them, what its VMs hear, and who keeps it from rebooting (DESIGN section 3 rule 10). */
import { describe, expect, test } from 'vitest';
import { inMaintenance, takesVms } from '../../core/node/maintenance.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { groupPolicyOf } from '../../core/policy/group-policy.ts';
import { at, crashedAt, NODE, NodeLife, nodeAt, UPDATED } from './life.ts';
import { changed, soaked, soaking } from './situations.ts';

/** What its VMs hear of one event. */
function heard(life: NodeLife, act: (life: NodeLife) => unknown): object[] {
  act(life);
  return life.facts.filter(({ kind }) => kind === 'hostMaintenance');
}
const news = (begins: boolean) => [{ kind: 'hostMaintenance', hostId: NODE, begins }];

/** A check that failed once MonitoringUpdate had been reached. */
function failing(onFailure: 'rollback' | 'report', reason: string): NodeLife {
  const life = soaking();
  const policy = groupPolicyOf({ monitor: { checks: [{ name: 'a', type: 'tcp', port: 1 }], onFailure } });
  changed(life, { policy });
  life.report({ ...UPDATED, state: 'ErrorReset', error: { reason } });
  return life;
}

describe('the VMs of a node hear', () => {
  test('that it goes on to its reboot, and that it has come to MonitoringUpdate; of nothing else', () => {
    const life = nodeAt('Idle');
    expect(heard(life, () => life.start())).toEqual([]);
    expect(heard(life, () => life.report())).toEqual([]);
    expect(heard(life, () => life.report())).toEqual(news(true));
    expect(heard(life, () => life.report(UPDATED))).toEqual([]);
    expect(heard(life, () => life.report(UPDATED))).toEqual(news(false));
    expect(heard(life, () => life.to(120).report(UPDATED))).toEqual([]);
    expect(heard(life, () => life.report(UPDATED))).toEqual([]);
    expect(life.node.attempt).toBeNull();
  });

  test('nothing of a crash before the reboot', () => {
    const life = nodeAt('PerformedUpdate');
    expect(heard(life, () => life.report({ state: 'ErrorReset' }))).toEqual([]);
    expect(heard(life, () => life.report())).toEqual([]);
  });

  test('nothing of a crash on the way through the reboot, until the node is Idle again', () => {
    const life = nodeAt('RebootedIntoUpdate');
    expect(heard(life, () => life.report({ state: 'ErrorReset' }))).toEqual([]);
    expect(heard(life, () => life.report())).toEqual(news(false));
  });

  test('that a failed check sends the node back through a reboot, and that it is Idle again', () => {
    const life = soaking();
    const failed = { ...UPDATED, state: 'ErrorReset', error: { reason: 'HealthCheckFailed' } } as const;
    expect(heard(life, () => life.report(failed))).toEqual(news(true));
    expect(heard(life, () => life.report({ bootId: 'b3' }))).toEqual(news(false));
  });

  test('that a reboot which was heard of too late is withdrawn, once the node is Idle again', () => {
    const life = nodeAt('RebootedIntoUpdate');
    life.paused = true;
    expect(heard(life, () => life.report({ state: 'PerformedUpdate', notBegun: true }))).toEqual([]);
    expect(life.node).toMatchObject({ spec: { state: 'Idle' }, crash: { count: 0 } });
    expect(heard(life, () => life.report())).toEqual(news(false));
  });

  test('nothing of another boot while the update is being watched', () => {
    const life = soaking();
    expect(heard(life, () => life.to(9).report({ ...UPDATED, bootId: 'b3' }))).toEqual([]);
  });

  test('that it is removed while its reboot is under way', () => {
    expect(heard(nodeAt('RebootedIntoUpdate'), (life) => life.send({ kind: 'remove', reason: 'deleted' }))).toEqual(
      news(false),
    );
  });
});

describe('a node disturbs its VMs', () => {
  test.each<[string, () => NodeLife, boolean]>([
    ['not while Idle', () => nodeAt('Idle'), false],
    ['not while it stages an update', () => nodeAt('StagedUpdate'), false],
    ['not while it marks the update for the next boot', () => nodeAt('PerformedUpdate'), false],
    ['while it drains and reboots', () => nodeAt('RebootedIntoUpdate'), true],
    ['until its first checks have passed', () => nodeAt('MonitoringUpdate'), true],
    ['not while it is watched', soaking, false],
    ['not on the way to Idle after a success', soaked, false],
    [
      'not on that way, whatever its last crash was',
      () => changed(soaked(), { crash: crashedAt('RebootedIntoUpdate').node.crash }),
      false,
    ],
    ['not on the way back from what disturbed nobody', () => crashedAt('StagedUpdate'), false],
    ['nor from the step before the reboot', () => crashedAt('PerformedUpdate'), false],
    ['on the way back from a reboot', () => crashedAt('RebootedIntoUpdate'), true],
    ['not once it is back', () => changed(crashedAt('RebootedIntoUpdate'), { attempt: null }), false],
    [
      'not in Idle that is reached',
      () => {
        const life = crashedAt('RebootedIntoUpdate');
        return changed(life, { spec: { ...life.node.spec, reachedAt: at(0) } });
      },
      false,
    ],
    [
      'not on the way back when the crash is forgotten',
      () => {
        const life = crashedAt('RebootedIntoUpdate');
        life.to(86_400).due();
        return life;
      },
      false,
    ],
    ['on the way back from a failed check that is rolled back', () => failing('rollback', 'HealthCheckFailed'), true],
    ['not from one that is only reported', () => failing('report', 'HealthCheckFailed'), false],
    ['not from another failure while it was watched', () => failing('rollback', 'Broken'), false],
    [
      'on the way back from a boot that was rolled back',
      () => {
        const life = nodeAt('MonitoringUpdate');
        life.report({ bootId: 'b3' });
        return life;
      },
      true,
    ],
    [
      'not once it is removed',
      () => changed(nodeAt('RebootedIntoUpdate'), { removed: { at: at(0), reason: 'gone' } }),
      false,
    ],
  ])('%s', (_what, make, disturbs) => {
    expect(inMaintenance(make().node)).toBe(disturbs);
  });
});

describe('VMs that keep the node from rebooting', () => {
  const blocked = (...blockers: string[]): NodeLife => {
    const life = nodeAt('StagedUpdate');
    life.blockers = blockers;
    life.report();
    return life;
  };

  test('hold it staged without a slot, and let it claim one when none is left', () => {
    const life = blocked('web');
    expect(life.node).toMatchObject({ spec: { state: 'StagedUpdate', reachedAt: at(0) }, vmBlockers: ['web'] });
    expect(life.node).toMatchObject({ attempt: { claimId: null }, waitingSince: null });
    life.blockers = [];
    life.to(4).send({ kind: 'proceed' });
    expect(life.node).toMatchObject({ spec: { state: 'StagedUpdate' }, vmBlockers: [], waitingSince: at(4) });
    expect(life.facts).toEqual([{ kind: 'fill', group: 'default' }]);
  });

  test('are looked at again, and remembered where nobody looks', () => {
    const life = blocked('web', 'db');
    life.blockers = ['db', 'cache'];
    expect(life.send({ kind: 'proceed' }).kind).toBe('changed');
    expect(life.node.vmBlockers).toEqual(['db', 'cache']);
    life.blockers = null;
    expect(life.send({ kind: 'proceed' }).kind).toBe('unchanged');
    expect(life.node.spec.state).toBe('StagedUpdate');
  });

  test('are no news while they are the same', () => {
    const life = blocked('web');
    expect(life.send({ kind: 'proceed' }).kind).toBe('unchanged');
    expect(life.report().kind).toBe('changed');
    expect(life.node.vmBlockers).toEqual(['web']);
  });

  test('withdraw what is activated, and leave alone what has been told to reboot', () => {
    const activated = nodeAt('PerformedUpdate');
    activated.blockers = ['web'];
    activated.report();
    expect(activated.node).toMatchObject({ spec: { state: 'Idle' }, crash: { count: 0 } });
    const rebooting = nodeAt('RebootedIntoUpdate');
    rebooting.blockers = ['web'];
    rebooting.report(UPDATED);
    expect(rebooting.node.spec.state).toBe('MonitoringUpdate');
  });
});

describe('a start elsewhere goes', () => {
  test.each<[string, Partial<NodeRecord>, boolean]>([
    ['to a node that reports and is in order', {}, true],
    ['to none that is gone', { removed: { at: at(0), reason: 'gone' } }, false],
    ['to none that has not reported', { status: null }, false],
    ['to none that is silent', { silentSince: at(0) }, false],
    ['to none that is unreachable', { unreachableSince: at(0) }, false],
    ['to none that is fenced', { fencedAt: at(0) }, false],
  ])('%s', (_what, more, takes) => {
    expect(takesVms({ ...nodeAt('Idle').node, ...more })).toBe(takes);
  });
});
