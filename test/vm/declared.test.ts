/** Declaring a VM and changing what was declared: power, plans, records and words (DESIGN section 3, table and rule 7). */
import { describe, expect, test } from 'vitest';
import { parseNodeId } from '../../core/kit/ids.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import type { RunStrategy } from '../../core/contract/words.ts';
import { decideVm } from '../../core/vm/decide.ts';
import {
  at,
  declared,
  edit,
  editInstance,
  facts,
  HOST,
  id,
  instance,
  note,
  OTHER_HOST,
  refused,
  running,
  said,
  VmLife,
  wake,
} from './scene.ts';
import { there } from '../kit/there.ts';

const SEED: Partial<VmBody> = { backoff: { preset: 'seed' } };
const put = (life: VmLife, strategy: RunStrategy, more: Partial<VmBody> = {}) =>
  life.put(strategy, { ...SEED, ...more });

describe('a declaration', () => {
  test.each([
    ['Always', true],
    ['RerunOnFailure', true],
    ['Once', true],
    ['Manual', false],
    ['Halted', false],
  ] as const)('of %s has power on: %s', (strategy, on) => {
    const life = declared(strategy);
    expect(life.vm.power).toEqual({ on, sequence: 0 });
    expect(life.vm.instance !== null).toBe(on);
  });

  test('is a record with a uid of its own, and its first instance', () => {
    const life = declared('Always');
    const { body, ...record } = life.vm;
    expect(body.runStrategy).toBe('Always');
    expect(record).toMatchObject({
      kind: 'vm',
      revision: 1,
      vmId: 'web',
      uid: '0000000000000001',
      launchRevision: 1,
      lastVerb: null,
      previousInstances: [],
      pendingStart: null,
      startFailure: null,
      unstableRuns: null,
      lastFailure: null,
      restartCount: 0,
      deleting: null,
      removed: null,
    });
    expect(life.facts).toEqual([
      note('VM Declared', `declared on host ${HOST}, Always`),
      wake('StartInstance'),
      note('VM Instance Started', `instance ${life.instanceId} asked of host ${HOST}`),
    ]);
    expect(record.events.map(({ id }) => id)).toEqual(['vm/web/1', 'vm/web/1.1']);
  });

  test('over a tombstone goes on with its revision and knows the instances before it', () => {
    const life = running('Always');
    const [first, revision] = [life.instanceId, life.vm.revision];
    life.send({ kind: 'delete', force: true });
    put(life, 'Manual');
    expect(life.vm).toMatchObject({
      revision: revision + 2,
      launchRevision: 2,
      previousInstances: [first],
      instance: null,
      removed: null,
      deleting: null,
    });
    edit(life, { removed: { at: at(0) } });
    put(life, 'Manual');
    expect(life.vm).toMatchObject({ launchRevision: 3, previousInstances: [first] });
    const old = edit(declared('Always'), {
      removed: { at: at(0) },
      previousInstances: Array.from({ length: 16 }, () => id(first)),
    });
    const last = old.instanceId;
    put(old, 'Manual');
    expect(old.vm.previousInstances).toHaveLength(16);
    expect(old.vm.previousInstances.at(-1)).toBe(last);
  });

  test('is all that a VM which does not exist takes', () => {
    const draw = { delay: 0, deadline: 0, id: '0' };
    const { vmId } = declared('Manual').vm;
    expect(decideVm(null, { kind: 'stop', grace: null }, { vmId, now: at(0), draw })).toMatchObject({
      refusal: { status: 404, code: 'VmNotFound', detail: 'there is no VM web' },
    });
  });
});

describe('a change', () => {
  test('of nothing is nothing', () => {
    const life = declared('Always');
    const before = life.vm;
    put(life, 'Always');
    expect(life.vm).toBe(before);
  });

  test.each<[Partial<VmBody>, string, number]>([
    [{ launch: { type: 'libvirt', domain: 'other' } }, 'new launch definition', 2],
    [{ simulateCrash: true }, 'new launch definition', 2],
    [{ simulateCrash: false }, 'settings changed', 1],
    [{ stableFor: '9s' }, 'settings changed', 1],
  ])('of %j is said to be %s; launch revision %d', (more, what, launchRevision) => {
    const life = running('Always');
    expect(facts(life, () => put(life, 'Always', more))).toEqual([note('VM Changed', what)]);
    expect(life.vm).toMatchObject({ launchRevision, pendingStart: null, instance: { phase: 'Running', stop: null } });
  });

  test('that is none of the strategy starts nothing, and lets what is planned wait for the end of the old instance', () => {
    const done = running('RerunOnFailure');
    done.report('Succeeded');
    put(done, 'RerunOnFailure', { stableFor: '9s' });
    expect(done.vm).toMatchObject({ pendingStart: null, instance: { phase: 'Succeeded' } });
    const timedOut = declared('Always');
    timedOut.report('Scheduled');
    timedOut.wait(301);
    put(timedOut, 'Always', { simulateCrash: true });
    expect(timedOut.vm.pendingStart).toEqual({ notBefore: at(301) });
  });

  test('of several things is said in one', () => {
    const hostId = there(parseNodeId(OTHER_HOST));
    const life = declared('Manual');
    expect(said(life, () => put(life, 'Halted', { hostId, simulateCrash: true }))).toEqual([
      `VM Changed: run strategy Manual → Halted, new launch definition, host ${HOST} → ${OTHER_HOST}`,
    ]);
  });

  test('of the host waits for the end of the instance', () => {
    const hostId = there(parseNodeId(OTHER_HOST));
    const life = running('Manual');
    const body: VmBody = { ...life.vm.body, hostId };
    expect(refused(life, { kind: 'put', body })).toEqual({
      status: 409,
      code: 'InstanceNotEnded',
      detail: `VM web has instance ${life.instanceId} on host ${HOST} whose end is not known; stop it, or fence the host, before moving the VM`,
    });
    life.report('Succeeded');
    expect(said(life, () => put(life, 'Manual', { hostId }))).toEqual([`VM Changed: host ${HOST} → ${OTHER_HOST}`]);
  });

  test('of what is being deleted is refused', () => {
    const life = running('Always');
    life.send({ kind: 'delete', force: false });
    expect(refused(life, { kind: 'put', body: life.vm.body })).toEqual({
      status: 409,
      code: 'VmTerminating',
      detail: 'VM web is being deleted; declare it again when it is gone',
    });
  });

  test('of the launch definition in back-off tries now and keeps the record', () => {
    const life = declared('Always');
    life.failEarly();
    put(life, 'Always', { simulateCrash: true });
    expect(life.vm).toMatchObject({ startFailure: { consecutiveFailCount: 1 }, pendingStart: null });
    expect(life.status).toBe('Starting');
    const other = declared('Always');
    other.failEarly();
    put(other, 'Always', { stableFor: '9s' });
    expect(other.vm.pendingStart).toEqual({ notBefore: at(12.5) });
  });
});

describe('a new strategy', () => {
  /** From a failure that waits: is the retry still planned, is its record kept, is power on? */
  test.each<[RunStrategy, RunStrategy, 'kept' | 'now' | 'none', boolean, boolean]>([
    ['Always', 'RerunOnFailure', 'kept', true, true],
    ['RerunOnFailure', 'Always', 'kept', true, true],
    ['Always', 'Manual', 'none', false, false],
    ['Always', 'Halted', 'none', false, false],
    ['Always', 'Once', 'now', false, true],
  ])('%s → %s in back-off: the retry is %s, the record kept %s, power on %s', (from, to, retry, kept, on) => {
    const life = declared(from);
    life.failEarly();
    edit(life, { unstableRuns: { count: 1, retryAfter: null } });
    const first = life.instanceId;
    put(life, to);
    expect(life.vm.pendingStart).toEqual(retry === 'kept' ? { notBefore: at(12.5) } : null);
    expect(life.instanceId !== first).toBe(retry === 'now');
    expect(life.vm.startFailure !== null).toBe(kept);
    expect(life.vm.unstableRuns !== null).toBe(kept);
    expect(life.vm.power).toEqual({ on, sequence: on ? 0 : 1 });
  });

  test.each<[RunStrategy, RunStrategy, boolean]>([
    ['Manual', 'Always', true],
    ['Manual', 'RerunOnFailure', true],
    ['Manual', 'Once', true],
    ['Manual', 'Halted', false],
    ['Halted', 'Manual', false],
    ['Halted', 'Always', true],
  ])('%s → %s without an instance is like a creation: it starts %s', (from, to, starts) => {
    const life = declared(from);
    put(life, to);
    expect(life.vm.instance !== null).toBe(starts);
    expect(life.vm.power.on).toBe(starts);
  });

  test.each(['Always', 'Once'] as const)('→ %s starts nothing when the last verb was stop', (to) => {
    const life = declared('Manual');
    life.stop();
    put(life, to);
    expect(life.vm).toMatchObject({ instance: null, power: { on: false } });
  });

  test('→ Manual of a live instance lets it run', () => {
    const life = running('Always');
    put(life, 'Manual');
    expect(life.vm).toMatchObject({ power: { on: true, sequence: 0 }, instance: { stop: null }, pendingStart: null });
    const timedOut = declared('Once');
    timedOut.report('Scheduled');
    timedOut.wait(301);
    put(timedOut, 'Manual');
    expect(timedOut.vm).toMatchObject({ pendingStart: null, power: { on: true, sequence: 0 } });
    const ended = running('Once');
    ended.report('Succeeded');
    put(ended, 'Manual');
    expect(ended.vm.power).toEqual({ on: false, sequence: 1 });
  });

  test.each<[string, (life: VmLife) => unknown, boolean]>([
    ['runs', () => null, false],
    ['was told to end by Halted', (life) => put(life, 'Halted'), true],
    ['timed out', (life) => editInstance(life, { timedOutAt: at(0) }), true],
  ])('→ Always of an instance that %s: another one is planned %s', (_what, act, planned) => {
    const life = running('Manual');
    act(life);
    const first = life.instanceId;
    put(life, 'Always');
    expect(life.vm).toMatchObject({ power: { on: true }, pendingStart: planned ? { notBefore: at(0) } : null });
    expect(life.instanceId).toBe(first);
  });

  test('→ Halted tells a live instance to end, and cancels what is planned', () => {
    const life = running('Always', { grace: '40s' });
    const events = facts(life, () => put(life, 'Halted', { grace: '40s' }));
    expect(instance(life).stop).toEqual({ at: at(0), grace: 40_000 });
    expect(events).toEqual([note('VM Changed', 'run strategy Always → Halted'), wake('StopInstance')]);
    put(life, 'Halted', { grace: '50s' });
    expect(life.vm).toMatchObject({ power: { on: false, sequence: 1 }, pendingStart: null });
  });
});
