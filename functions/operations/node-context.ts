/** What a decision about a node has to know of the world around it, read only where the event asks for it. */
import { DEFAULT_GROUP, type GroupId, type NodeId, parseGroupId, type VmId } from '../../core/kit/ids.ts';
import { needsBlockers, needsGroup, type NodeContext, type NodeEvent } from '../../core/node/event.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { blocksReboot, hostOf } from '../../core/vm/record.ts';
import type { ControlPlane } from '../ports.ts';
import { loadView } from './groups.ts';
import { lastRecovery } from './home.ts';

export async function contextOf(
  plane: ControlPlane,
  nodeId: NodeId,
  record: NodeRecord | null,
  event: NodeEvent,
): Promise<NodeContext> {
  const group = needsGroup(record, event)
    ? await loadView(plane, groupFor(record, event), versionsOf(record, event))
    : null;
  const enrols = event.kind === 'report' && (record === null || record.removed !== null);
  const recoveredAt = enrols ? (await lastRecovery(plane)).recoveredAt : null;
  const blockers = needsBlockers(record, event) ? { blockers: await rebootBlockers(plane, nodeId) } : {};
  return { nodeId, now: plane.now(), group, recoveredAt, ...blockers };
}

/** The versions that the gates may be asked of. */
function versionsOf(record: NodeRecord | null, event: NodeEvent): (string | null | undefined)[] {
  const offered = event.kind === 'report' ? event.report.updateCheck.version : record?.status?.updateCheck.version;
  return [offered, record?.spec.version, record?.refusedOffer?.version];
}

function groupFor(record: NodeRecord | null, event: NodeEvent): GroupId {
  if (event.kind === 'move') return event.group;
  if (record !== null && record.removed === null) return record.group;
  const named = event.kind === 'report' && event.report.group !== undefined ? parseGroupId(event.report.group) : null;
  return named ?? record?.group ?? DEFAULT_GROUP;
}

/** The VMs that keep a host from rebooting, in the order of their ids. */
async function rebootBlockers(plane: ControlPlane, host: NodeId): Promise<VmId[]> {
  const ids = await plane.store.vmsOfHost(host);
  const loaded = await Promise.all(ids.map((id) => plane.store.load('vm', id)));
  return loaded.flatMap((vm) =>
    vm !== null && hostOf(vm.record) === host && blocksReboot(vm.record) ? [vm.record.vmId] : [],
  );
}
