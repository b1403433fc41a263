/** What the explanation of a node says of its machine, its VMs, its agent, and its versions (DESIGN section 2 rule 10). */
import { describe, expect, test } from 'vitest';
import type { NodePhase } from '../../core/contract/words.ts';
import type { GroupSituation } from './life.ts';
import { at, iso, NodeLife, nodeAt } from './life.ts';
import { changed, held, late, soaking, soon, stagedForVms, withCheck } from './situations.ts';

const stopped = (): NodeLife => {
  const life = withCheck({ result: 'UpToDate' });
  life.to(20).send({ kind: 'stopped', at: at(9) });
  return life;
};

const staged = '1.1 is staged and not activated. After that it still waits for: NoSlot.';
const until = `from its reboot (maintenance: block) until they are off or no longer block. ${staged}`;

/** Rolled back for its health, and Idle again. */
const unhealthy = (): NodeLife => {
  const life = soaking();
  life.report({
    bootId: 'b2',
    currentVersion: '1.1',
    state: 'ErrorReset',
    error: { reason: 'HealthCheckFailed', message: 'web' },
  });
  life.to(5).report({ bootId: 'b3' });
  return life;
};

const offered = 'Up to date: runs 1.0 and nothing newer is offered to it';
const waves = 'offers come in waves, so others may have one before it';
const upToDate = `${offered}; ${waves}`;

describe('phase and explanation', () => {
  test.each<[string, () => NodeLife, Partial<GroupSituation>, NodePhase, string]>([
    [
      'stopped by EC2',
      stopped,
      {},
      'Idle',
      `Stopped by EC2 at ${iso(9)}: nothing is expected of it and nothing counts until it reports again.`,
    ],
    [
      'stopped by EC2 and held',
      () => held(stopped()),
      {},
      'Held',
      `Stopped by EC2 at ${iso(9)}: nothing is expected of it and nothing counts until it reports again (held by ann).`,
    ],
    [
      'stopped by EC2 on its way',
      () => {
        const life = nodeAt('StagedUpdate');
        life.to(20).send({ kind: 'stopped', at: at(9) });
        return life;
      },
      {},
      'Idle',
      `Stopped by EC2 at ${iso(9)}: nothing is expected of it and nothing counts until it reports again.`,
    ],
    [
      'started by EC2 again',
      () => {
        const life = stopped();
        life.send({ kind: 'running', at: at(15) });
        return life;
      },
      {},
      'Idle',
      `${upToDate}.`,
    ],
    [
      'staged, and a VM blocks',
      () => stagedForVms(1),
      {},
      'Queued',
      `VM vm-1 keeps it from its reboot (maintenance: block) until it is off or no longer blocks. ${staged}`,
    ],
    [
      'staged, and five VMs block',
      () => stagedForVms(5),
      {},
      'Queued',
      `VMs vm-1, vm-2, vm-3, vm-4, vm-5 keep it ${until}`,
    ],
    [
      'staged, and seven VMs block',
      () => stagedForVms(7),
      {},
      'Queued',
      `VMs vm-1, vm-2, vm-3, vm-4, vm-5 and 2 more keep it ${until}`,
    ],
    [
      'staged, held, and a VM blocks: who holds it comes first',
      () => held(stagedForVms(1)),
      {},
      'Held',
      'Held by ann until it is released. 1.1 is staged and not activated. After that it still waits for: VmBlocksMaintenance, NoSlot.',
    ],
    [
      'on another way than to its reboot, and a VM would block',
      () => changed(nodeAt('StagedUpdate'), { vmBlockers: ['web'] }),
      {},
      'Updating',
      `On the way to StagedUpdate for 1.1; not there ${soon(720, '12 min')} counts as a crash. It goes no further than that: VM web keeps it from its reboot.`,
    ],
    [
      'its agent says how far it is',
      () => {
        const life = nodeAt('StagedUpdate');
        life.report({ state: 'Idle', progress: '50 % downloaded' });
        return life;
      },
      {},
      'Updating',
      `On the way to StagedUpdate for 1.1; not there ${soon(720, '12 min')} counts as a crash. The node says: 50 % downloaded.`,
    ],
    [
      'its agent is too old',
      () => {
        const life = new NodeLife();
        life.report({ updateCheck: { result: 'UpToDate' }, agentVersion: '9.0.0' });
        return life;
      },
      {},
      'Idle',
      `${upToDate}. Its agent is 9.0.0 and the control plane 0.1.0, more than one minor version apart: update the control plane.`,
    ],
    [
      'nothing is offered, for a reason',
      () => withCheck({ result: 'UpToDate', message: '1.1 is not in its wave yet' }),
      {},
      'Idle',
      `${offered}, since 1.1 is not in its wave yet; ${waves}.`,
    ],
    [
      'it runs what is offered, whatever the check says besides',
      () => withCheck({ result: 'Available', version: '1.0', message: 'prepared' }),
      {},
      'Idle',
      `${upToDate}.`,
    ],
    [
      'blocked for its health',
      () => late(unhealthy(), 120),
      {},
      'Idle',
      `Version 1.1 is blocked on this node because it failed its health checks there; it waits for another version, or for the end of the block ${soon(86_400, '23 h 58 min')}, or until a person says retry. Crashed once, last HealthCheckFailed on the way to MonitoringUpdate (web).`,
    ],
    [
      'blocked, and the last crash may have been another version’s',
      () => changed(late(unhealthy(), 120), { blockedVersions: ['1.0.9', '1.1'] }),
      {},
      'Idle',
      `Version 1.1 is blocked on this node because it booted back from it or failed its health checks there; it waits for another version, or for the end of the block ${soon(86_400, '23 h 58 min')}, or until a person says retry. Crashed once, last HealthCheckFailed on the way to MonitoringUpdate (web).`,
    ],
    [
      'heard of again by a report of the step that it has missed',
      () => {
        const life = nodeAt('StagedUpdate');
        life.report({ state: 'Idle' });
        const { generation } = life.node.spec;
        late(life, 720);
        life.to(730).report({ state: 'StagedUpdate', generation });
        return life;
      },
      {},
      'Recovering',
      `Recovering: DeadlinePassed on the way to StagedUpdate (crash 1); nothing moves until it reports Idle, then the next attempt may begin now. It keeps its slot.`,
    ],
    [
      'never reported, and nothing reached',
      () => {
        const { spec } = nodeAt('Idle').node;
        return changed(nodeAt('Idle'), { status: null, spec: { ...spec, reachedAt: null } });
      },
      {},
      'Idle',
      'Has not reported yet: nothing is known of it, and it is the last to be chosen; its first report brings it in.',
    ],
  ])('%s', (_what, make, group, phase, explanation) => {
    expect(make().shown(group)).toMatchObject({ phase, explanation });
  });
});

describe('the status that is shown', () => {
  test('has what the agent says of its step and what blocks its drain, while it says so', () => {
    const life = nodeAt('RebootedIntoUpdate');
    expect(life.shown().status).not.toHaveProperty('progress');
    expect(life.shown().status).not.toHaveProperty('drainBlockedBy');
    life.report({ state: 'PerformedUpdate', progress: 'draining', drain: { blockedBy: ['pod a', 'pod b'] } });
    expect(life.shown().status).toMatchObject({ progress: 'draining', drainBlockedBy: 'pod a, pod b' });
    life.report({ state: 'PerformedUpdate' });
    expect(life.shown().status).not.toHaveProperty('progress');
  });

  test.each<[string, string | number | Record<string, unknown>, string]>([
    ['a sentence, as it is', 'half done', 'half done'],
    ['a number', 50, '50'],
    ['a record', { of: 3 }, '{"of":3}'],
    ['300 letters', 'x'.repeat(300), 'x'.repeat(300)],
    ['301 letters, cut', 'x'.repeat(301), `${'x'.repeat(299)}…`],
  ])('has progress of any form: %s', (_what, progress, shown) => {
    const life = nodeAt('StagedUpdate');
    life.report({ state: 'Idle', progress });
    expect(life.shown().status?.progress).toBe(shown);
  });

  test('is written anew when the progress alone is another, and when it is none any more', () => {
    const life = withCheck({ result: 'UpToDate' });
    const again = (progress?: string) =>
      life.report({ updateCheck: { result: 'UpToDate' }, ...(progress === undefined ? {} : { progress }) }).kind;
    expect(again()).toBe('unchanged');
    expect([again('1 of 2'), again('1 of 2'), again('2 of 2'), again()]).toEqual([
      'changed',
      'unchanged',
      'changed',
      'changed',
    ]);
  });
});
