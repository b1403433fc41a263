/** What a decision about a node has to know of the world around it, read only where the event asks for it. */
import { DEFAULT_GROUP, type GroupId, type NodeId, parseGroupId, parseVmId, type VmId } from '../../core/kit/ids.ts';
import type { Instant } from '../../core/kit/time.ts';
import { needsBlockers, needsGroup, type NodeContext, type NodeEvent } from '../../core/node/event.ts';
import type { GroupRecord } from '../../core/group/record.ts';
import type { GroupView } from '../../core/group/view.ts';
import { mayHostVms } from '../../core/node/hosting.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import type { HostEntry } from '../../core/vm/host-entry.ts';
import { blocksReboot, hostOf } from '../../core/vm/record.ts';
import type { ControlPlane } from '../ports.ts';
import { loadMany } from '../unreadable.ts';
import { type GroupPair, loadGroup, viewOf } from './groups.ts';
import { lastRecovery } from './home.ts';

/**
 * @property own the group's record, as it was read for this; null: it was not asked for
 * @property entries what the host is told of its VMs; null: it was not asked for, or not answered
 */
export type LookedAt = NodeContext & { own: GroupRecord | null; entries: HostEntry[] | null };

export async function contextOf(
  plane: ControlPlane,
  nodeId: NodeId,
  record: NodeRecord | null,
  event: NodeEvent,
): Promise<LookedAt> {
  const pair = needsGroup(record, event) ? await loadGroup(plane, groupFor(record, event)) : null;
  const group = pair === null ? null : await viewOf(plane, pair, versionsOf(record, event));
  const enrols = event.kind === 'report' && (record === null || record.removed !== null);
  const recoveredAt = enrols ? await recoveredWhen(plane, pair) : null;
  const blockers = needsBlockers(record, event) ? { blockers: await rebootBlockers(plane, nodeId) } : {};
  const { entries, hasVms } = event.kind === 'report' ? await lookForVms(plane, nodeId, record) : NOT_ASKED;
  return { nodeId, now: plane.now(), group, recoveredAt, own: pair?.own ?? null, ...blockers, entries, ...hasVms };
}

type VmsFound = { entries: HostEntry[] | null; hasVms: { hasVms?: boolean } };
const NOT_ASKED: VmsFound = { entries: null, hasVms: {} };

/** A report is answered whatever becomes of this: the agent then asks for the list, as it did before there was a tag. */
async function lookForVms(plane: ControlPlane, nodeId: NodeId, record: NodeRecord | null): Promise<VmsFound> {
  if (record?.removed === null && !mayHostVms(record, plane.now())) return { entries: [], hasVms: {} };
  try {
    const entries = await plane.store.hostEntries(nodeId);
    return { entries, hasVms: { hasVms: entries.length > 0 } };
  } catch (error) {
    plane.telemetry.warn(`the VMs of ${nodeId} could not be looked up for the answer to its report`, {
      nodeId,
      error: String(error),
    });
    return NOT_ASKED;
  }
}

/** `default`, which knows, has just been read for an undeclared group, and for itself. */
async function recoveredWhen(plane: ControlPlane, pair: GroupPair | null): Promise<Instant | null> {
  const known = pair?.fallback.group === DEFAULT_GROUP ? pair.fallback : null;
  return known === null ? (await lastRecovery(plane)).recoveredAt : (known.recovery?.at ?? null);
}

/** What a start has to know: its group was looked at when the slot was claimed. */
export async function startContext(
  plane: ControlPlane,
  record: NodeRecord,
  event: NodeEvent,
  group: GroupView,
): Promise<NodeContext> {
  const blockers = needsBlockers(record, event) ? { blockers: await rebootBlockers(plane, record.nodeId) } : {};
  return { nodeId: record.nodeId, now: plane.now(), group, ...blockers };
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

/** The VMs that keep a host from rebooting, in the order of their ids; one that cannot be read may be one of them. */
async function rebootBlockers(plane: ControlPlane, host: NodeId): Promise<VmId[]> {
  const { records, unreadable } = await loadMany(plane, 'vm', await plane.store.vmsOfHost(host));
  const blocking = records.filter((vm) => hostOf(vm) === host && blocksReboot(vm)).map(({ vmId }) => vmId);
  return [...blocking, ...unreadable.flatMap(({ id }) => parseVmId(id) ?? [])].sort();
}
