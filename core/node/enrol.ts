/** How a node comes to be known: by its first report, also over the tombstone of one that was removed (DESIGN section 6). */
import type { NodeReport } from '../contract/agent-bodies.ts';
import type { GroupId, NodeId } from '../kit/ids.ts';
import { groupPolicyOf, nodePolicyOf } from '../policy/group-policy.ts';
import type { NodeContext } from './event.ts';
import { generationFloor } from './floor.ts';
import { NO_CRASH, type NodeRecord } from './record.ts';
import { replaced } from './observe.ts';

/** A report that is provably later than what the tombstone remembers (DESIGN section 6). */
export function newerThanTombstone(node: NodeRecord, report: NodeReport): boolean {
  const { status } = node;
  if (status === null || status.bootId !== report.bootId) return true;
  // No boot outlives the machine: such a report was on its way when EC2 terminated it.
  if (node.removed?.how === 'terminated') return false;
  return report.uptime !== undefined && (status.uptime === null || report.uptime > status.uptime);
}

/** A fresh record; over a tombstone the generation goes on from where it was. */
export function enrol(tombstone: NodeRecord | null, report: NodeReport, context: NodeContext): NodeRecord {
  const node = newNode(context.nodeId, report.group ?? null, tombstone, context);
  const lastBoot = tombstone?.status?.bootId ?? report.bootId;
  if (lastBoot === report.bootId) return node;
  return { ...node, previousBoots: replaced(node, lastBoot, report.bootId) };
}

/** A node with no status yet. */
export function newNode(
  nodeId: NodeId,
  group: string | null,
  tombstone: NodeRecord | null,
  context: Pick<NodeContext, 'now' | 'group' | 'recoveredAt'>,
): NodeRecord {
  const { now, recoveredAt } = context;
  const next = tombstone === null ? 1 : tombstone.spec.generation + 1;
  const policy = context.group?.policy ?? groupPolicyOf({});
  return {
    kind: 'node',
    revision: tombstone?.revision ?? 0,
    events: [],
    nodeId,
    // The contract has checked the name; a tombstone's group was checked when it was written.
    group: (group ?? tombstone?.group ?? 'default') as GroupId,
    enrolledAt: now,
    spec: {
      state: 'Idle',
      version: null,
      generation: recoveredAt == null ? next : Math.max(next, generationFloor(recoveredAt)),
      since: now,
      acknowledgedAt: null,
      reachedAt: null,
      nextWakeAt: null,
      wakesRepeated: 0,
    },
    status: null,
    previousBoots: tombstone?.previousBoots ?? [],
    attempt: null,
    crash: NO_CRASH,
    blockedVersions: [],
    heldBy: null,
    waitingSince: null,
    unreachableSince: null,
    silentSince: null,
    fencedAt: null,
    untold: tombstone?.untold ?? null,
    ...(recoveredAt == null ? {} : { restored: { at: recoveredAt, heardAt: null } }),
    wakeFailure: null,
    policy: nodePolicyOf(policy),
    removed: null,
  };
}
