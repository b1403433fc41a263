/** How a node comes to be known: by its first report, also over the tombstone of one that was removed (DESIGN section 6). */
// @ts-nocheck

import type { NodeReport } from '../contract.ts';
import type { GroupId, NodeId } from '../ids.ts';
import { groupPolicyOf } from '../policy.ts';
import type { NodeContext } from './event.ts';
import { BOOTS_KEPT, NO_CRASH, type NodeRecord } from './record.ts';

/** A report that is provably later than what the tombstone remembers (DESIGN section 6). */
export function newerThanTombstone(node: NodeRecord, report: NodeReport): boolean {
  const { status } = node;
  if (status === null || status.bootId !== report.bootId) return true;
  return report.uptime !== undefined && (status.uptime === null || report.uptime > status.uptime);
}

/** A fresh record; over a tombstone the generation goes on from where it was. */
export function enrol(tombstone: NodeRecord | null, report: NodeReport, context: NodeContext): NodeRecord {
  const node = newNode(context.nodeId, report.group ?? null, tombstone, context);
  const lastBoot = tombstone?.status?.bootId ?? report.bootId;
  if (lastBoot === report.bootId) return node;
  return { ...node, previousBoots: [...node.previousBoots, lastBoot].slice(-BOOTS_KEPT) };
}

/** A node with no status yet. */
export function newNode(
  nodeId: NodeId,
  group: string | null,
  tombstone: NodeRecord | null,
  context: Pick<NodeContext, 'now' | 'group'>,
): NodeRecord {
  const { now } = context;
  const policy = context.group?.policy ?? groupPolicyOf({});
  return {
    kind: 'node',
    revision: tombstone?.revision ?? 0,
    events: [],
    nodeId,
    // The contract has checked the name; a tombstone's group was checked when it was written.
    group: (group ?? tombstone?.group ?? 'default') as GroupId,
    spec: {
      state: 'Idle',
      version: null,
      generation: tombstone === null ? 1 : tombstone.spec.generation + 1,
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
    wakeFailure: null,
    policy: { backoff: policy.backoff, deadlines: policy.deadlines, soak: policy.soak },
    removed: null,
  };
}
