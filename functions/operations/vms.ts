/** What happens to a VM: declarations, verbs, its host's reports, and the passing of time. */
import type { HostVm } from '../../core/contract/agent-answers.ts';
import type { InstanceSeen } from '../../core/contract/agent-bodies.ts';
import { type NodeId, parseNodeId, parseVmId, type VmId } from '../../core/kit/ids.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import type { Fact, Outcome } from '../../core/decision/fact.ts';
import { decideNode } from '../../core/node/decide.ts';
import { inMaintenance, takesVms } from '../../core/node/maintenance.ts';
import { decideVm } from '../../core/vm/decide.ts';
import { hostLine } from '../../core/vm/told.ts';
import { type HostView, needsHosts, type VmEvent } from '../../core/vm/event.ts';
import { sendLease } from '../../core/vm/lease.ts';
import { blocksReboot, hostOf, live, type VmRecord } from '../../core/vm/record.ts';
import type { ControlPlane } from '../ports.ts';
import { turn, type Turned } from '../turn.ts';
import { loadMany, loadReadable, skipping } from '../unreadable.ts';
import { turnGroup } from './groups.ts';
import { leftToSweep } from './left-to-sweep.ts';
import { contextOf } from './node-context.ts';
import { startOwn } from './start-own.ts';

/** One decision about a VM; a host that it no longer keeps from rebooting goes on. */
export async function turnVm(plane: ControlPlane, vmId: VmId, event: VmEvent): Promise<Turned<VmRecord>> {
  let blocked: NodeId | null = null;
  let unknown: NodeId | null = null;
  const result = await turn(plane, 'vm', vmId, async (record) => {
    blocked = record !== null && blocksReboot(record) ? hostOf(record) : null;
    const hosts = needsHosts(record, event, plane.now()) ? { hosts: await viewHosts(plane, vmId, record, event) } : {};
    const outcome = decideVm(record, event, { vmId, now: plane.now(), draw: plane.draw(), ...hosts });
    // The host first: a VM that its host does not know of would not be in the answers to its reports.
    const goesTo = newHost(record, outcome);
    unknown = goesTo !== null && !(await declareOn(plane, goesTo)) ? goesTo : null;
    return outcome;
  });
  if (result.kind !== 'changed') return result;
  const { record, facts } = result;
  await leftToSweep(plane, `what follows for VM ${vmId} could not be done`, async () => {
    await listenFor(plane, facts);
    // It may have enrolled meanwhile.
    if (unknown !== null) await declareOn(plane, unknown);
    if (blocked !== null && !blocksReboot(record)) await proceedHost(plane, blocked);
  });
  return result;
}

/** Where a VM is about to come to be that was not there before. */
function newHost(before: VmRecord | null, outcome: Outcome<VmRecord>): NodeId | null {
  if (outcome.kind !== 'changed' || outcome.next.removed !== null) return null;
  const host = hostOf(outcome.next);
  return before?.removed === null && hostOf(before) === host ? null : host;
}

/** @returns whether the host has enrolled */
async function declareOn(plane: ControlPlane, host: NodeId): Promise<boolean> {
  let enrolled = true;
  await skipping(plane, 'node', host, () =>
    turn(plane, 'node', host, (record) => {
      enrolled = record?.removed === null;
      if (!enrolled) return { kind: 'unchanged' };
      return decideNode(record, { kind: 'declareVm' }, { nodeId: host, now: plane.now(), group: null });
    }),
  );
  return enrolled;
}

/** What a VM has to know of its host, and of those it may go to. */
async function viewHosts(plane: ControlPlane, vmId: VmId, vm: VmRecord | null, event: VmEvent): Promise<HostView> {
  const named = event.kind === 'put' ? { named: await viewNamed(plane, vmId, vm, event.body) } : {};
  if (vm === null || vm.removed !== null) return { inMaintenance: false, fenced: false, inOrder: [], ...named };
  const own = (await plane.store.load('node', hostOf(vm)))?.record;
  const mayMove = vm.body.restartElsewhere === true && event.kind !== 'stop' && event.kind !== 'delete';
  const others = mayMove ? (vm.body.hosts ?? []).flatMap((id) => parseNodeId(id) ?? []) : [];
  const loaded = await Promise.all(others.map((id) => plane.store.load('node', id)));
  return {
    inMaintenance: own !== undefined && inMaintenance(own),
    fenced: own !== undefined && own.fencedAt !== null,
    fencedAt: own?.fencedAt ?? null,
    enrolled: own !== undefined,
    heardAt: own?.status?.reportedAt ?? null,
    inOrder: others.filter((_id, index) => {
      const node = loaded[index]?.record;
      return node !== undefined && takesVms(node);
    }),
    ...named,
  };
}

/** Of the host that a declaration names: whether it is off, and what is there already of what is declared. */
async function viewNamed(
  plane: ControlPlane,
  vmId: VmId,
  vm: VmRecord | null,
  { hostId, launch }: VmBody,
): Promise<NonNullable<HostView['named']>> {
  const host = parseNodeId(hostId);
  const node = host === null ? undefined : (await plane.store.load('node', host))?.record;
  const fenced = node !== undefined && node.fencedAt !== null;
  if (host === null || launch.type !== 'libvirt') return { fenced, sameDomain: null, autostart: false };
  const autostart = (node?.unexpected ?? []).some(({ name, autostart: on }) => on === true && name === launch.domain);
  // What stands unchanged was judged when it was declared.
  const same =
    vm?.removed === null && vm.body.hostId === hostId && JSON.stringify(vm.body.launch) === JSON.stringify(launch);
  const ids = same ? [] : (await plane.store.vmsOfHost(host)).filter((id) => id !== vmId);
  const { records } = await loadMany(plane, 'vm', ids);
  const taken = records.find((other) => {
    if (other.removed !== null || hostOf(other) !== host) return false;
    const { launch: theirs } = other.body;
    return theirs.type === 'libvirt' && theirs.domain === launch.domain;
  });
  return { fenced, sameDomain: taken?.vmId ?? null, autostart };
}

/** Its host's next report is passed on to the VM. What is lost here the VM asks for again. */
async function listenFor(plane: ControlPlane, facts: readonly Fact[]): Promise<void> {
  for (const fact of facts) {
    if (fact.kind !== 'listen') continue;
    const { hostId } = fact;
    await turn(plane, 'node', hostId, (record) =>
      record === null
        ? { kind: 'unchanged' }
        : decideNode(record, { kind: 'listen' }, { nodeId: hostId, now: plane.now(), group: null }),
    );
  }
}

/** Lets a node go on that waited staged for a VM. The sweep does the same, lest this is lost. */
async function proceedHost(plane: ControlPlane, host: NodeId): Promise<void> {
  const event = { kind: 'proceed' } as const;
  const result = await turn(plane, 'node', host, async (record) =>
    decideNode(record, event, await contextOf(plane, host, record, event)),
  );
  if (result.kind !== 'changed') return;
  for (const fact of result.facts) {
    if (fact.kind === 'hostMaintenance') await tellVms(plane, fact);
    if (fact.kind === 'slotReleased')
      await turnGroup(plane, fact.group, { kind: 'release', nodeId: host, claimId: fact.claimId });
    if (fact.kind === 'fill') await startOwn(plane, result.record, { told: false });
  }
}

/** What is known of a host reaches each of its VMs. */
export async function tellVms(plane: ControlPlane, news: HostEvent): Promise<void> {
  for (const vmId of await plane.store.vmsOfHost(news.hostId))
    await skipping(plane, 'vm', vmId, () => turnVm(plane, vmId, news));
}
export type HostEvent = Extract<
  VmEvent,
  { kind: 'hostReported' | 'hostSilent' | 'hostUnheard' | 'hostBooted' | 'hostFenced' | 'hostMaintenance' }
> & {
  hostId: NodeId;
};

/** VMs that are told of one report at a time. */
const HEARD_AT_ONCE = 25;

/**
 * What an accepted report of a host says of the instances there reaches their VMs; with `awaited` all VMs of the host learn
 * that it was heard. The report stands whatever fails here: the next one says it again.
 */
export async function hearHost(
  plane: ControlPlane,
  hostId: NodeId,
  instances: readonly InstanceSeen[],
  awaited: boolean,
): Promise<void> {
  const said = new Map(
    instances.flatMap((seen) => (parseVmId(seen.vmId) === null ? [] : [[seen.vmId, seen] as const])),
  );
  const named = [...said.keys()].flatMap((id) => parseVmId(id) ?? []);
  try {
    const ids = awaited ? [...new Set([...(await plane.store.vmsOfHost(hostId)), ...named])] : named;
    for (let from = 0; from < ids.length; from += HEARD_AT_ONCE) {
      const some = ids.slice(from, from + HEARD_AT_ONCE);
      await Promise.all(
        some.map((vmId) => {
          const seen = said.get(vmId);
          return skipping(plane, 'vm', vmId, () =>
            turnVm(plane, vmId, { kind: 'hostReported', hostId, ...(seen === undefined ? {} : { seen }) }),
          );
        }),
      );
    }
  } catch (error) {
    const what = `what host ${hostId} said of its VMs could not be kept; its next report says it again`;
    plane.telemetry.warn(what, { hostId, error: String(error) });
  }
}

/** What should run on a host: each VM's live instance, to run or to end, and the lease that it is to be held by. */
export async function vmsToRun(plane: ControlPlane, host: NodeId): Promise<HostVm[]> {
  const ids = await plane.store.vmsOfHost(host);
  const now = plane.now();
  const lines = await Promise.all(
    ids.map(async (vmId) => {
      const found = await loadReadable(plane, 'vm', vmId);
      const vm = found === null || 'why' in found ? null : found.record;
      if (vm === null || hostOf(vm) !== host || hostLine(vm, now) === null) return null;
      // From the moment a lease is sent the host may hold it: that is written down first (rule 6).
      const sends =
        live(vm.instance) && vm.instance.phase !== 'Pending' && sendLease(vm, vm.instance, now) !== vm.instance;
      const told = sends ? (await turnVm(plane, vmId, { kind: 'leaseSent' })).record : vm;
      return told === null || hostOf(told) !== host ? null : hostLine(told, now);
    }),
  );
  return lines.filter((line) => line !== null);
}
