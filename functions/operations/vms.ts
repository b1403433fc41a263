/** What happens to a VM: declarations, verbs, its host's reports, and the passing of time. */
import type { HostVm } from '../../core/contract/agent-answers.ts';
import type { InstanceSeen } from '../../core/contract/agent-bodies.ts';
import { type NodeId, parseNodeId, parseVmId, type VmId } from '../../core/kit/ids.ts';
import { decideNode } from '../../core/node/decide.ts';
import { inMaintenance, takesVms } from '../../core/node/maintenance.ts';
import { decideVm } from '../../core/vm/decide.ts';
import { hostLine } from '../../core/vm/describe.ts';
import { type HostView, needsHosts, type VmEvent } from '../../core/vm/event.ts';
import { blocksReboot, hostOf, type VmRecord } from '../../core/vm/record.ts';
import type { ControlPlane } from '../ports.ts';
import { turn, type Turned } from '../turn.ts';
import { fillAfter } from './fill.ts';
import { turnGroup } from './groups.ts';
import { contextOf } from './node-context.ts';

/** One decision about a VM; a host that it no longer keeps from rebooting goes on. */
export async function turnVm(plane: ControlPlane, vmId: VmId, event: VmEvent): Promise<Turned<VmRecord>> {
  let blocked: NodeId | null = null;
  const result = await turn(plane, 'vm', vmId, async (record) => {
    blocked = record !== null && blocksReboot(record) ? hostOf(record) : null;
    const hosts = record !== null && needsHosts(record, event) ? { hosts: await viewHosts(plane, record) } : {};
    return decideVm(record, event, { vmId, now: plane.now(), draw: plane.draw(), ...hosts });
  });
  if (result.kind === 'changed' && blocked !== null && !blocksReboot(result.record)) await proceedHost(plane, blocked);
  return result;
}

/** What a VM has to know of its host, and of those it may go to. */
async function viewHosts(plane: ControlPlane, vm: VmRecord): Promise<HostView> {
  const own = (await plane.store.load('node', hostOf(vm)))?.record;
  const others = (vm.body.hosts ?? []).flatMap((id) => parseNodeId(id) ?? []);
  const loaded = await Promise.all(others.map((id) => plane.store.load('node', id)));
  return {
    inMaintenance: own !== undefined && inMaintenance(own),
    fenced: own !== undefined && own.fencedAt !== null,
    inOrder: others.filter((_id, index) => {
      const node = loaded[index]?.record;
      return node !== undefined && takesVms(node);
    }),
  };
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
    if (fact.kind === 'slotReleased' || fact.kind === 'fill') await fillAfter(plane, fact.group, { candidate: host });
  }
}

/** What is known of a host reaches each of its VMs. */
export async function tellVms(plane: ControlPlane, news: HostEvent): Promise<void> {
  for (const vmId of await plane.store.vmsOfHost(news.hostId)) await turnVm(plane, vmId, news);
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
          return turnVm(plane, vmId, { kind: 'hostReported', hostId, ...(seen === undefined ? {} : { seen }) });
        }),
      );
    }
  } catch (error) {
    const what = `what host ${hostId} said of its VMs could not be kept; its next report says it again`;
    plane.telemetry.warn(what, { hostId, error: String(error) });
  }
}

/** What should run on a host: each VM's live instance, to run or to end. */
export async function vmsToRun(plane: ControlPlane, host: NodeId): Promise<HostVm[]> {
  const ids = await plane.store.vmsOfHost(host);
  const loaded = await Promise.all(ids.map((id) => plane.store.load('vm', id)));
  return loaded.flatMap((vm) => {
    if (vm === null || hostOf(vm.record) !== host) return [];
    const line = hostLine(vm.record);
    return line === null ? [] : [line];
  });
}
