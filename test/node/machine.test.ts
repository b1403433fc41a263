/** What EC2 and SSM say of the machine itself (DESIGN section 2 rule 9, section 3 rule 6). */
import { describe, expect, test } from 'vitest';
import { fenceToRepeat, LOST_AFTER, suspectedLost } from '../../core/node/machine.ts';
import type { Gone, NodeRecord } from '../../core/node/record.ts';
import { lastSign } from '../../core/node/signs.ts';
import { nodeAlarm, nodeConcerns, nodeDueAt } from '../../core/node/timing.ts';
import { hours } from '../../core/kit/time.ts';
import { at, crashedAt, iso, NODE, NodeLife, nodeAt } from './life.ts';
import { there } from '../kit/there.ts';

const event = (type: string, message: string, severity = 'warning') => ({ kind: 'event', type, severity, message });
const fenced = (seconds: number, asOf?: number) => ({
  kind: 'hostFenced',
  hostId: NODE,
  at: at(seconds),
  ...(asOf === undefined ? {} : { asOf: at(asOf) }),
});
const stop = (life: NodeLife, seconds: number) => life.send({ kind: 'stopped', at: at(seconds) });
const run = (life: NodeLife, seconds: number) => life.send({ kind: 'running', at: at(seconds) });
const gone = (life: NodeLife, how: Gone, seconds: number) => life.send({ kind: 'gone', how, at: at(seconds) });

/** Reported at the start that it is up to date. */
function resting(): NodeLife {
  const life = new NodeLife();
  life.report({ updateCheck: { result: 'UpToDate' } });
  return life;
}
/** Stopped at 100 s, which is known at 110 s. */
function stopped(life = resting()): NodeLife {
  stop(life.to(110), 100);
  return life;
}
const edit = (life: NodeLife, more: Partial<NodeRecord>): NodeLife => {
  life.node = { ...life.node, ...more };
  return life;
};

describe('EC2 stopped the machine', () => {
  test('at rest: its instances have ended, and nothing is expected of it', () => {
    const marks = { unreachableSince: at(1), silentSince: at(1), wakeFailure: { status: 'Failed', at: at(1) } };
    const life = stopped(edit(resting(), marks));
    expect(life.facts).toEqual([
      event('Node Stopped', `EC2 stopped it at ${iso(100)}: its instances have ended`),
      fenced(110, 100),
    ]);
    expect(life.node).toMatchObject({
      spec: { state: 'Idle', generation: 1, reachedAt: at(0), nextWakeAt: null },
      machine: { state: 'stopped', at: at(100) },
      fencedAt: at(110),
      untold: { kind: 'hostFenced', at: at(110), asOf: at(100) },
      unreachableSince: null,
      silentSince: null,
      wakeFailure: null,
    });
  });

  test('under way: the step is withdrawn, its slot is free, and nothing is counted', () => {
    const life = stopped(nodeAt('PerformedUpdate'));
    expect(life.facts).toEqual([
      { kind: 'slotReleased', group: 'default', claimId: 'claim-1' },
      event(
        'Node Stopped',
        `EC2 stopped it at ${iso(100)}: its instances have ended; PerformedUpdate is withdrawn and nothing is counted`,
      ),
      fenced(110, 100),
    ]);
    const spec = { state: 'Idle', version: null, reachedAt: null, nextWakeAt: null };
    expect(life.node).toMatchObject({ spec, attempt: null, crash: { count: 0 }, waitingSince: null });
  });

  test('nothing falls due but what its VMs are to be told, and when its crash record is forgotten', () => {
    const life = stopped();
    expect(nodeAlarm(life.node)).toBeNull();
    expect(nodeDueAt(life.node)).toBe(at(110));
    life.send({ kind: 'told', at: at(110) });
    expect(nodeDueAt(life.node)).toBeNull();
    expect(life.to(200_000).due().kind).toBe('unchanged');
    const crashed = stopped(crashedAt('StagedUpdate'));
    expect(nodeAlarm(crashed.node)).toEqual({ at: at(86_400), retry: false });
    crashed.send({ kind: 'told', at: at(110) });
    expect(crashed.to(86_399).due().kind).toBe('unchanged');
    crashed.to(86_400).due();
    expect(crashed.kinds()).toEqual(['event']);
  });

  test('a node with three crashes on record is not counted while it is off', () => {
    const life = crashedAt('StagedUpdate');
    life.to(1).report();
    const { crash } = life.node;
    edit(life, { crash: { ...crash, count: 3 }, waitingSince: null });
    expect(nodeConcerns(life.node).backingOff).toBe(true);
    stopped(life);
    expect(nodeConcerns(edit(life, { waitingSince: null }).node).backingOff).toBe(false);
  });

  test.each<[string, boolean, (life: NodeLife) => unknown]>([
    ['a report 5 s after it', true, (life) => life.to(105).report({ bootId: 'b2' })],
    ['a report later than that', false, (life) => life.to(105.001).report({ bootId: 'b2' })],
    ['a start before it', true, (life) => edit(life, { machine: { state: 'running', at: at(99.999) } })],
    ['a start in the same second', false, (life) => edit(life, { machine: { state: 'running', at: at(100) } })],
    ['a start after it', false, (life) => edit(life, { machine: { state: 'running', at: at(101) } })],
    ['no report at all', true, (life) => edit(life, { status: null })],
    ['nothing known of the machine', true, (life) => edit(life, { machine: null })],
  ])('%s does not overtake the event: %s', (_what, holds, act) => {
    const life = resting();
    act(life);
    expect(stop(life.to(300), 100).kind).toBe(holds ? 'changed' : 'unchanged');
  });

  test.each<[string, string, number, string]>([
    ['the boot that was stopped, within a minute', 'b1', 159.999, 'unchanged'],
    ['the boot that was stopped, later', 'b1', 160, 'changed'],
    ['another boot', 'b2', 111, 'changed'],
  ])('a report of %s: of boot %s at %d s it is %s', (_what, bootId, seconds, kind) => {
    const life = stopped();
    expect(life.to(seconds).report({ bootId, updateCheck: { result: 'UpToDate' } }).kind).toBe(kind);
    expect(life.node.machine).toEqual(kind === 'changed' ? null : { state: 'stopped', at: at(100) });
    // Its VMs still have to learn that it was off; another boot tells them more: all that it ran before has ended.
    const fenced = { kind: 'hostFenced', at: at(110), asOf: at(100) };
    const booted = { kind: 'hostBooted', at: at(111), bootedAt: expect.any(Number), alive: [] };
    expect(life.node.untold).toEqual(bootId === 'b2' ? booted : fenced);
  });

  test('a report of an older generation, too, shows that it is on again', () => {
    const life = stopped(nodeAt('PerformedUpdate'));
    life.to(200).report({ state: 'PerformedUpdate', generation: 2, bootId: 'b2' });
    expect(life.node).toMatchObject({ machine: null, status: { reportedAt: at(200) } });
    expect(life.node.untold).toEqual({ kind: 'hostFenced', at: at(110), asOf: at(100) });
  });
});

describe('EC2 started the machine', () => {
  test('its silence counts from then on', () => {
    const life = stopped();
    run(life.to(5010), 5000);
    expect(life.facts).toEqual([event('Node Started', `EC2 started it at ${iso(5000)}`, 'info')]);
    expect(life.node.machine).toEqual({ state: 'running', at: at(5000) });
    expect(life.node.spec.nextWakeAt).toBeNull();
    life.send({ kind: 'told', at: at(110) });
    expect(nodeDueAt(life.node)).toBe(at(10_400));
    life.to(10_399).due();
    expect(life.node.silentSince).toBeNull();
    life.to(10_400).due();
    expect(life.node.silentSince).toBe(at(10_400));
  });

  test('a step that it owes is asked for again after a minute', () => {
    const life = stopped(nodeAt('StagedUpdate'));
    run(life.to(5010), 5000);
    expect(life.node.spec.nextWakeAt).toBe(at(5070));
  });

  test('of one that was not known to be stopped only the instant is kept', () => {
    const life = nodeAt('Idle');
    life.start(false);
    run(life.to(20), 10);
    expect(life.facts).toEqual([]);
    expect(life.node).toMatchObject({ machine: { state: 'running', at: at(10) }, spec: { nextWakeAt: at(60) } });
    expect(run(life.to(30), 10).kind).toBe('unchanged');
  });
});

describe('silent for a day', () => {
  const silent = (more: Partial<NodeRecord> = {}): NodeRecord => {
    const life = resting();
    life.to(5400).due();
    return { ...life.node, ...more };
  };
  const running = { state: 'running', at: at(50) } as const;

  test.each<[string, NodeRecord, number, boolean]>([
    ['nearly', silent(), 86_399.999, false],
    ['to the moment', silent(), 86_400, true],
    ['since it was started', silent({ machine: running }), 86_449, false],
    ['since it was started, to the moment', silent({ machine: running }), 86_450, true],
    ['not known to be silent', silent({ silentSince: null }), 90_000, false],
    ['stopped', silent({ machine: { state: 'stopped', at: at(0) } }), 90_000, false],
    ['removed', silent({ removed: { at: at(1), reason: 'x' } }), 90_000, false],
    ['never heard', silent({ status: null }), 90_000, false],
  ])('%s: whether it may be lost', (_what, node, seconds, may) => {
    expect(LOST_AFTER).toBe(hours(24));
    expect(suspectedLost(node, at(seconds))).toBe(may);
    const life = new NodeLife();
    life.node = node;
    expect(gone(life.to(seconds), 'lost', seconds).kind).toBe(may ? 'changed' : 'unchanged');
  });

  test('the last sign of it is the latest of what is known', () => {
    const signs = (status: number | null, machine: number | null, restored: number | null) =>
      lastSign({
        ...silent(),
        status: status === null ? null : { ...there(silent().status), reportedAt: at(status) },
        machine: machine === null ? null : { state: 'running', at: at(machine) },
        restored: restored === null ? null : { at: at(restored), heardAt: null },
      });
    expect(signs(null, 2, 3)).toBeNull();
    expect(signs(1, null, null)).toBe(at(1));
    expect(signs(1, 2, null)).toBe(at(2));
    expect(signs(3, 2, 1)).toBe(at(3));
    expect(signs(1, null, 4)).toBe(at(4));
    expect(signs(1, 5, 4)).toBe(at(5));
  });
});

describe('the machine is gone', () => {
  test.each<[Gone, string]>([
    ['terminated', 'EC2 terminated it'],
    ['deregistered', 'it was deregistered from SSM'],
    ['lost', 'it has been silent for 24 h and SSM does not know it'],
  ])('%s: a tombstone, its slot free, its host given up, and no crash', (how, reason) => {
    const life = edit(nodeAt('StagedUpdate'), { silentSince: at(3600), waitingSince: at(0) });
    gone(life.to(90_000), how, 89_990);
    expect(life.facts).toEqual([
      { kind: 'slotReleased', group: 'default', claimId: 'claim-1' },
      event('Node Removed', `${reason}; nothing is counted`),
      fenced(90_000),
    ]);
    expect(life.node).toMatchObject({
      removed: { at: at(90_000), reason, how },
      fencedAt: at(90_000),
      untold: { kind: 'hostFenced', at: at(90_000) },
      attempt: null,
      waitingSince: null,
      crash: { count: 0 },
    });
    expect(nodeDueAt(life.node)).toBe(at(90_000));
    expect(gone(life.to(90_001), how, 89_990).kind).toBe('unchanged');
  });

  test('its VMs are told again until they know; then nothing falls due', () => {
    const life = resting();
    gone(life.to(60), 'terminated', 60);
    life.to(200).due();
    expect(life.facts).toEqual([fenced(60)]);
    expect(life.send({ kind: 'told', at: at(59) }).kind).toBe('unchanged');
    life.send({ kind: 'told', at: at(60) });
    expect(life.facts).toEqual([]);
    expect(life.node.untold).toBeNull();
    expect(nodeDueAt(life.node)).toBeNull();
    expect(life.refused({ kind: 'due' }).code).toBe('NodeNotFound');
  });

  test.each<[Gone, boolean]>([
    ['terminated', true],
    ['deregistered', true],
    ['lost', false],
  ])('a node that was deleted before and is %s gives its host up: %s', (how, does) => {
    const life = resting();
    life.send({ kind: 'remove', reason: 'deleted' });
    edit(life.to(90_000), { silentSince: at(3600) });
    expect(gone(life, how, 89_999).kind).toBe(does ? 'changed' : 'unchanged');
    if (!does) return;
    expect(life.facts).toEqual([fenced(90_000)]);
    expect(life.node).toMatchObject({
      removed: { at: at(0), reason: 'deleted', how },
      fencedAt: at(90_000),
      untold: { kind: 'hostFenced', at: at(90_000) },
    });
    for (const again of ['terminated', 'deregistered'] as const)
      expect(gone(life.to(90_010), again, 89_999).kind).toBe('unchanged');
  });

  test.each<[Gone, number, string]>([
    ['deregistered', 105, 'changed'],
    ['deregistered', 105.001, 'unchanged'],
    ['terminated', 200, 'changed'],
  ])('%s at 100 s, and a report at %d s: it is %s', (how, reported, kind) => {
    const life = resting();
    life.to(reported).report({ bootId: 'b2' });
    expect(gone(life.to(300), how, 100).kind).toBe(kind);
  });

  test('so is one that never reported', () =>
    expect(gone(edit(resting(), { status: null }), 'deregistered', 100).kind).toBe('changed'));
});

describe('an event delivered again repeats', () => {
  const removed = (how?: Gone): NodeRecord => ({
    ...resting().node,
    removed: { at: at(0), reason: 'x', ...(how === undefined ? {} : { how }) },
  });

  test.each<[string, NodeRecord, 'stopped' | Gone, number, object | null]>([
    ['the fence of that stop', stopped().node, 'stopped', 100, { asOf: at(100) }],
    ['nothing of another stop', stopped().node, 'stopped', 99, null],
    [
      'nothing of a stop that is over',
      { ...resting().node, machine: { state: 'running', at: at(100) } },
      'stopped',
      100,
      null,
    ],
    ['nothing where none was known', resting().node, 'stopped', 100, null],
    ['the whole fence of one that is gone', removed('terminated'), 'terminated', 100, {}],
    ['nothing of one that is gone otherwise', removed('lost'), 'terminated', 100, null],
    ['nothing of one that was deleted', removed(), 'terminated', 100, null],
    ['nothing of one that is there', stopped().node, 'terminated', 100, null],
  ])('%s', (_what, node, kind, seconds, fence) => {
    expect(fenceToRepeat(node, kind, at(seconds))).toEqual(fence);
  });
});
