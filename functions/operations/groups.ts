/** Groups: their policy, and the one idempotent `fill` that gives free slots away (DESIGN section 2 rule 4). */
import {
  decideGroup,
  type GroupEvent,
  type GroupRecord,
  newGroup,
  policyInForce,
  SLOT_STALE_AFTER,
  UNCOUNTED_SETTLE,
} from '../../core/group/group.ts';
import { DEFAULT_GROUP, type GroupId, type NodeId } from '../../core/kit/ids.ts';
import { decideNode } from '../../core/node/decide.ts';
import type { GroupView, NodeEvent } from '../../core/node/event.ts';
import { queueKey, readiness } from '../../core/node/readiness.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { limitOf } from '../../core/policy/limit.ts';
import { between, type Instant } from '../../core/kit/time.ts';
import type { ControlPlane } from '../ports.ts';
import { turn, type Turned } from '../turn.ts';

export type GroupPair = { own: GroupRecord; fallback: GroupRecord };

/** A group and the default whose policy holds while it is undeclared; a record that does not exist yet is the built-in one. */
export async function loadGroup(plane: ControlPlane, group: GroupId): Promise<GroupPair> {
  const own = (await plane.store.load('group', group))?.record ?? newGroup(group);
  if (own.body !== null) return { own, fallback: own };
  const fallback = (await plane.store.load('group', DEFAULT_GROUP))?.record ?? newGroup(DEFAULT_GROUP);
  return { own, fallback };
}

export const viewOf = ({ own, fallback }: GroupPair): GroupView => ({
  policy: policyInForce(own, fallback),
  paused: own.pausedBy !== null,
});

export const turnGroup = (plane: ControlPlane, group: GroupId, event: GroupEvent): Promise<Turned<GroupRecord>> =>
  turn(plane, 'group', group, (record) => decideGroup(record, group, event, plane.now()));

/** The queue index may lag by more than the slots that are free; this many more are looked at. */
const SPARE_CANDIDATES = 8;
const UNLIMITED_AT_ONCE = 100;

/**
 * Gives every free slot of the group to the node that is next. Idempotent: run twice, or by two callers at once, it
 * starts nobody twice. The node an event is about is a candidate whatever the index says.
 * @param told the node whose report is being answered: its start is acknowledged by that answer
 * @returns the nodes that were started
 */
export async function fill(
  plane: ControlPlane,
  group: GroupId,
  candidate: NodeId | null = null,
  told: NodeId | null = null,
): Promise<Map<NodeId, NodeRecord>> {
  const started = new Map<NodeId, NodeRecord>();
  const pair = await loadGroup(plane, group);
  const { own } = pair;
  if (own.pausedBy !== null) return started;
  const view = viewOf(pair);
  const limit = limitOf(view.policy.concurrency, own.memberCount);
  if (limit === null && own.uncountedSince !== null) await turnGroup(plane, group, { kind: 'limitless' });
  const uncounted = limit === null ? 0 : await countUncounted(plane, pair);
  if (uncounted === null) return started;
  const free = limit === null ? UNLIMITED_AT_ONCE : limit - Object.keys(own.slots).length - uncounted;
  if (free <= 0) return started;
  const ready = await candidates(plane, group, free + SPARE_CANDIDATES, candidate);
  if (limit === null && ready.length > 0 && !own.slotless) {
    const noted = await turnGroup(plane, group, { kind: 'slotless' });
    if (noted.kind === 'refused') return started;
  }
  for (const node of ready) {
    if (started.size >= free) break;
    const outcome = await startOne(plane, view, node.nodeId, node.nodeId === told, limit, uncounted, group);
    if (outcome === 'full') break;
    if (outcome !== 'notReady') started.set(node.nodeId, outcome);
  }
  return started;
}

/** Nodes that began without a limit and are still under way; null while starts decided before may still land. */
async function countUncounted(plane: ControlPlane, { own, fallback }: GroupPair): Promise<number | null> {
  if (!own.slotless && own.uncountedSince === null) return 0;
  const limits = [own.uncountedSince, own.body === null ? fallback.uncountedSince : null];
  const now = plane.now();
  if (limits.some((since) => since !== null && between(since, now) < UNCOUNTED_SETTLE)) return null;
  const ids = await plane.store.underWay(own.group);
  const nodes = await Promise.all(ids.map((id) => plane.store.load('node', id)));
  const count = nodes.filter((node) => node?.record.attempt?.unlimited === true).length;
  if (count === 0) await turnGroup(plane, own.group, { kind: 'counted' });
  return count;
}

/** Candidates in queue order, read from their own items: the index only proposes. */
async function candidates(
  plane: ControlPlane,
  group: GroupId,
  limit: number,
  candidate: NodeId | null,
): Promise<NodeRecord[]> {
  const proposed = await plane.store.queue(group, limit);
  const ids = candidate === null || proposed.includes(candidate) ? proposed : [...proposed, candidate];
  const loaded = await Promise.all(ids.map((id) => plane.store.load('node', id)));
  const now = plane.now();
  return loaded
    .flatMap((node) => (node === null ? [] : [node.record]))
    .filter((node) => node.group === group && readiness(node, now).kind === 'ready')
    .sort((a, b) => ((queueKey(a) ?? a.nodeId) < (queueKey(b) ?? b.nodeId) ? -1 : 1));
}

/** Slot first, then the spec; a node that turned out not to be ready gives the slot back. */
async function startOne(
  plane: ControlPlane,
  view: GroupView,
  nodeId: NodeId,
  told: boolean,
  limit: number | null,
  uncounted: number,
  group: GroupId,
): Promise<NodeRecord | 'full' | 'notReady'> {
  const at: Instant = plane.now();
  const claim = limit === null ? null : { claimId: plane.draw().id, at };
  if (claim !== null && limit !== null) {
    const claimed = await turnGroup(plane, group, { kind: 'claim', nodeId, claimId: claim.claimId, limit, uncounted });
    if (claimed.kind === 'refused') return claimed.refusal.code === 'SlotTaken' ? 'notReady' : 'full';
  }
  const event: NodeEvent = { kind: 'start', claim, told };
  const result = await turn(plane, 'node', nodeId, (record) =>
    record?.group === group
      ? decideNode(record, event, { nodeId, now: plane.now(), group: view })
      : {
          kind: 'refused',
          refusal: { status: 409, code: 'NodeNotReady', detail: `node ${nodeId} is not in group ${group}` },
        },
  );
  if (result.kind === 'changed') return result.record;
  if (claim !== null) await turnGroup(plane, group, { kind: 'release', nodeId, claimId: claim.claimId });
  return 'notReady';
}

/**
 * Frees slots whose node is not under way with them. The node's revision changes first, so that a start decided before
 * cannot land after (DESIGN section 7).
 */
export async function reclaimSlots(plane: ControlPlane, own: GroupRecord): Promise<number> {
  let freed = 0;
  for (const [id, slot] of Object.entries(own.slots)) {
    if (between(slot.at, plane.now()) < SLOT_STALE_AFTER) continue;
    // The key of a slot is the id of the node that claimed it.
    const nodeId = id as NodeId;
    const node = await plane.store.load('node', nodeId);
    if (node?.record.attempt?.claimId === slot.claimId) continue;
    if (node !== null && node.record.removed === null) {
      const event: NodeEvent = { kind: 'disclaim', claimId: slot.claimId };
      const result = await turn(plane, 'node', nodeId, (record) =>
        decideNode(record, event, { nodeId, now: plane.now(), group: null }),
      );
      if (result.kind === 'refused' && result.refusal.code === 'SlotInUse') continue;
    }
    await turnGroup(plane, own.group, { kind: 'release', nodeId, claimId: slot.claimId });
    freed += 1;
  }
  return freed;
}
