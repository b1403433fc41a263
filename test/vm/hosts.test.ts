/** A VM and its hosts: their update, their loss, and where it goes (DESIGN section 3 rules 6 and 10). */
import { describe, expect, test } from 'vitest';
import { parseNodeId } from '../../core/kit/ids.ts';
import { decideVm } from '../../core/vm/decide.ts';
import type { HostView } from '../../core/vm/event.ts';
import { waitsForHost } from '../../core/vm/record.ts';
import type { Event } from '../kubevirt/vm-life.ts';
import { at, declared, HOST, id, OTHER_HOST, running, type VmLife, boots, said } from './scene.ts';

const A = parseNodeId(HOST) ?? expect.fail('a node id');
const B = parseNodeId(OTHER_HOST) ?? expect.fail('a node id');
const NOTHING: HostView = { inMaintenance: false, fenced: false, inOrder: [] };
const ELSEWHERE = { restartElsewhere: true, hosts: [OTHER_HOST] };

/** One decision with this view of the hosts; answers what was said. */
function step(life: VmLife, event: Event, hosts: Partial<HostView> = {}): string[] {
  const draw = { delay: 0.5, deadline: 0.5, id: `${life.vm.revision}`.padStart(16, 'e') };
  const context = { vmId: life.vm.vmId, now: life.now, draw, hosts: { ...NOTHING, ...hosts } };
  const outcome = decideVm(life.vm, event, context);
  if (outcome.kind === 'refused') throw new Error(outcome.refusal.detail);
  if (outcome.kind === 'unchanged') return [];
  life.vm = outcome.next;
  return outcome.facts.flatMap((fact) => (fact.kind === 'event' ? [`${fact.type}: ${fact.message}`] : []));
}

const later = (life: VmLife, seconds: number): VmLife => {
  life.now = at(seconds);
  return life;
};
const begins = (life: VmLife, yes = true, hostId = HOST): string[] =>
  step(life, { kind: 'hostMaintenance', hostId, begins: yes });
const fence = (life: VmLife, inOrder: HostView['inOrder'] = [], hostId = HOST): string[] =>
  step(life, { kind: 'hostFenced', hostId, at: life.now }, { inOrder, fenced: true });
const due = (life: VmLife, hosts: Partial<HostView> = {}): string[] => step(life, { kind: 'due' }, hosts);

/** Running, then stopped for its host and ended. */
function stoppedForHost(strategy: Parameters<typeof running>[0], body = {}): VmLife {
  const life = running(strategy, body);
  begins(later(life, 10));
  step(life, { kind: 'report', report: { instanceId: id(life.instanceId), phase: 'Succeeded' }, hostId: HOST });
  return life;
}

describe('the update of its host', () => {
  test('stops what runs, with grace, and says why and that nothing is counted', () => {
    const life = later(running('Always'), 10);
    expect(begins(life)).toEqual([
      expect.stringMatching(
        /^VM Stopped For Host: host .* instance .* stopped with grace and started again afterwards; nothing is counted$/,
      ),
    ]);
    expect(life.vm.instance?.stop).toMatchObject({ forHost: true });
    expect(waitsForHost(life.vm)).toBe(true);
  });

  test.each(['Always', 'RerunOnFailure', 'Manual', 'Once'] as const)(
    'under %s: not counted, and started again when the host is back',
    (strategy) => {
      const life = stoppedForHost(strategy);
      const before = life.instanceId;
      expect(life.vm).toMatchObject({ startFailure: null, unstableRuns: null, power: { on: true } });
      expect(life.vm.instance).toMatchObject({ phase: 'Succeeded', cause: 'HostMaintenance' });
      expect(due(later(life, 100), { inMaintenance: true })).toEqual([]);
      expect(begins(life, false)).toEqual([expect.stringContaining('VM Instance Started')]);
      expect(life.instanceId).not.toBe(before);
    },
  );

  test('of another host, or told twice, is nothing to it', () => {
    const life = later(running('Always'), 10);
    expect(begins(life, true, OTHER_HOST)).toEqual([]);
    expect(begins(life, false)).toEqual([]);
    begins(life);
    expect(begins(life)).toEqual([]);
  });

  test('what the host has not taken on waits, and its fetch takes nothing on', () => {
    const life = later(declared('Always'), 10);
    expect(begins(life)).toEqual([]);
    expect(step(life, { kind: 'launchFetched', instanceId: id(life.instanceId) })).toEqual([]);
    expect(life.vm.instance).toMatchObject({ phase: 'Pending', stop: null, startDeadlineAt: null });
    begins(life, false);
    step(life, { kind: 'launchFetched', instanceId: id(life.instanceId) });
    expect(life.vm.instance?.phase).toBe('Scheduled');
  });

  test('a lost notice that it is over is made good after three minutes by a look at the host', () => {
    const life = stoppedForHost('Always');
    expect(due(later(life, 189), { inMaintenance: false })).toEqual([]);
    expect(due(later(life, 190), { inMaintenance: true })).toEqual([]);
    expect(due(later(life, 369), { inMaintenance: false })).toEqual([]);
    expect(due(later(life, 370), { inMaintenance: false })).toEqual([expect.stringContaining('VM Instance Started')]);
  });

  test('an end that the host says was for its update is believed before we told it to, if the host is under way', () => {
    const life = later(running('Always'), 10);
    const report = { instanceId: id(life.instanceId), phase: 'Succeeded', cause: 'HostMaintenance' } as const;
    step(life, { kind: 'report', report, hostId: HOST }, { inMaintenance: true });
    expect(life.vm).toMatchObject({ instance: { cause: 'HostMaintenance' }, unstableRuns: null });
    expect(waitsForHost(life.vm)).toBe(true);
  });

  test('a report about an instance long gone holds nothing back', () => {
    const life = later(running('Always'), 10);
    const report = { instanceId: id('gone-1'), phase: 'Succeeded', cause: 'HostMaintenance' } as const;
    step(life, { kind: 'report', report, hostId: HOST }, { inMaintenance: true });
    expect(waitsForHost(life.vm)).toBe(false);
  });

  test("a person's stop stands above it: it stays off when the host is back", () => {
    const life = stoppedForHost('Always');
    step(life, { kind: 'stop', grace: null });
    expect(begins(life, false)).toEqual([]);
    expect(life.vm.power.on).toBe(false);
    expect(life.vm.pendingStart).toBeNull();
  });

  test('a restart asked for meanwhile is a restart: the records go', () => {
    const life = running('Always');
    life.report('Failed', { cause: 'Killed' });
    later(life, 30).send({ kind: 'due' });
    life.report('Running');
    life.send({ kind: 'restart' });
    step(life, { kind: 'report', report: { instanceId: id(life.instanceId), phase: 'Succeeded' }, hostId: HOST });
    life.report('Running');
    life.report('Failed', { cause: 'Killed' });
    later(life, 200).send({ kind: 'due' });
    life.report('Running');
    begins(life);
    expect(life.vm.unstableRuns).not.toBeNull();
    step(life, { kind: 'restart' });
    expect(life.vm.unstableRuns).toBeNull();
  });
});

describe('a host that is fenced', () => {
  test('ends what ran there, uncounted, and it starts there again once the host is back, when it may not go elsewhere', () => {
    const life = later(running('Always'), 10);
    const before = life.instanceId;
    expect(fence(life, [B])).toEqual([`VM Ended: instance ${before} Failed: HostLost: host ${HOST} was fenced`]);
    // Nothing is started on a host that was fenced, until it reports from another boot.
    expect(said(life, () => boots(life))).toEqual([expect.stringContaining(`asked of host ${HOST}`)]);
    expect(life.vm).toMatchObject({ unstableRuns: null, startFailure: null });
  });

  test('sends it to the first host of its list that is in order, once', () => {
    const life = later(running('Always', ELSEWHERE), 10);
    expect(fence(life, [B])).toEqual([
      expect.stringContaining('HostLost'),
      `VM Moved: host ${HOST} was fenced: it goes on on host ${OTHER_HOST}`,
      expect.stringContaining(`asked of host ${OTHER_HOST}`),
    ]);
    expect(fence(life, [B])).toEqual([]);
    expect(life.vm.placedOn).toBe(OTHER_HOST);
  });

  test('is not left for itself, nor by a VM that is off or being deleted', () => {
    const own = later(running('Always', ELSEWHERE), 10);
    const self = A;
    expect(fence(own, [self]).join()).not.toContain('VM Moved');
    const off = later(running('Always', ELSEWHERE), 10);
    step(off, { kind: 'stop', grace: null });
    expect(fence(off, [B]).join()).not.toContain('VM Moved');
    const going = later(running('Always', ELSEWHERE), 10);
    step(going, { kind: 'delete', force: false });
    expect(fence(going, [B]).join()).not.toContain('VM Moved');
  });

  test('of Manual: what ran has ended; a start that was never taken on is owed elsewhere', () => {
    const ran = later(running('Manual', ELSEWHERE), 10);
    expect(fence(ran, [B])).toEqual([expect.stringContaining('HostLost')]);
    const asked = declared('Manual', ELSEWHERE);
    asked.start();
    expect(fence(later(asked, 10), [B]).at(-1)).toContain(`asked of host ${OTHER_HOST}`);
  });

  test('with no other in order: the start waits there, and goes elsewhere as soon as one is', () => {
    const life = later(running('Always', ELSEWHERE), 10);
    fence(life);
    expect(life.vm.instance).toMatchObject({ phase: 'Failed', cause: 'HostLost' });
    expect(due(later(life, 190), { fenced: true })).toEqual([]);
    expect(due(later(life, 200), { fenced: true, inOrder: [B] })).toEqual([]);
    expect(due(later(life, 370), { fenced: true, inOrder: [B] })).toEqual([
      expect.stringContaining('VM Moved'),
      expect.stringContaining(`asked of host ${OTHER_HOST}`),
    ]);
  });

  test('while it was being updated: nothing waits for the update of a host that is off', () => {
    const life = stoppedForHost('Always', ELSEWHERE);
    fence(life);
    expect(waitsForHost(life.vm)).toBe(false);
    expect(life.vm.lostHost).toMatchObject({ how: 'fenced' });
    const unheard = stoppedForHost('Always', ELSEWHERE);
    due(later(unheard, 190), { inMaintenance: true, fenced: true });
    expect(waitsForHost(unheard.vm)).toBe(false);
  });

  test('another one is no news', () => {
    const life = later(running('Always', ELSEWHERE), 10);
    expect(fence(life, [B], OTHER_HOST)).toEqual([]);
  });
});
