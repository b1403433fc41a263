/** The one idempotent `fill` that gives a group's free slots away (DESIGN section 2 rule 4). */
import { nextInQueue } from '../../core/group/fill.ts';
import { type GroupRecord, policyInForce, SLOT_STALE_AFTER } from '../../core/group/record.ts';
import { isSettling, mustCount } from '../../core/group/slots.ts';
import type { GroupView } from '../../core/group/view.ts';
import type { GroupId, NodeId } from '../../core/kit/ids.ts';
import { between, type Instant } from '../../core/kit/time.ts';
import { decideNode } from '../../core/node/decide.ts';
import type { NodeEvent } from '../../core/node/event.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import type { ControlPlane } from '../ports.ts';
import { turn } from '../turn.ts';
import { choosesByIndex, nextOfAge, placeOf } from '../../core/rollout/queue-choice.ts';
import { chooseZone, type KeptZone } from '../../core/rollout/zone.ts';
import { type GroupPair, loadGroup, turnGroup, viewOf } from './groups.ts';
import { contextOf } from './node-context.ts';

/** How many are started in one go; the rest is left to the next fill, at the latest to the sweep. */
const STARTS_AT_ONCE = 100;
/** The queue's index may lag, and who waits for something else stands in it too: so many more are looked at. */
const SPARE_CANDIDATES = 8;
const CANDIDATES_MAX = 1600;

export type FillFor = {
  /** The node an event is about: a candidate whatever the index says. */
  candidate?: NodeId;
  /** Its report is being answered: its start is acknowledged by that answer. */
  told?: boolean;
};

/**
 * Gives every free slot of the group to the node that is next. Idempotent: run twice, or by two callers at once, it
 * starts nobody twice.
 * @returns the nodes that were started, or let go on
 */
export async function fill(
  plane: ControlPlane,
  group: GroupId,
  { candidate, told = false }: FillFor = {},
): Promise<Map<NodeId, NodeRecord>> {
  const started = new Map<NodeId, NodeRecord>();
  const counted = await countedView(plane, group);
  if (counted === null || !(await mayBegin(plane, counted))) return started;
  const { view } = counted;
  const { free } = view.slots;
  const wanted = Math.min(free ?? STARTS_AT_ONCE, STARTS_AT_ONCE);
  const ready = wanted === 0 ? [] : await candidates(plane, view, wanted, candidate ?? null);
  const choice = await ofOneZone(plane, view, ready);
  for (const claim of await claimSlots(plane, view, { ready: choice.ready.slice(0, wanted), zone: choice.zone })) {
    const node = await startOne(plane, view, claim, told && claim.nodeId === candidate);
    if (node !== null) started.set(claim.nodeId, node);
  }
  return started;
}

/**
 * What is asked for after a write is committed never changes its answer: what fails is logged, and left to the sweep.
 * @returns the candidate as it is after its own start, if it was started
 */
export async function fillAfter(plane: ControlPlane, group: GroupId, asked: FillFor = {}): Promise<NodeRecord | null> {
  try {
    const started = await fill(plane, group, asked);
    return asked.candidate === undefined ? null : (started.get(asked.candidate) ?? null);
  } catch (error) {
    plane.telemetry.warn(`group ${group} could not be filled; the next sweep does`, { error: String(error) });
    return null;
  }
}

/** A group, and what is offered to who stands in its queue. */
type Counted = { view: GroupView; offered: readonly string[] };

/** The group, with the nodes that began without a limit counted; null while nothing of it may start. */
async function countedView(plane: ControlPlane, group: GroupId): Promise<Counted | null> {
  const pair = await loadGroup(plane, group);
  const { own, fallback } = pair;
  if (own.pausedBy !== null) return null;
  const { view, offered } = await viewWithOffers(plane, pair);
  if (view.slots.limit === null) {
    if (own.uncountedSince !== null) await turnGroup(plane, group, { kind: 'limitless' });
    return { view, offered };
  }
  // Starts decided before the limit may still land: what is counted before they have says nothing.
  if (!mustCount(own) || isSettling(own, fallback, plane.now())) return { view, offered };
  const ids = await plane.store.underWay(group);
  const nodes = await Promise.all(ids.map((id) => plane.store.load('node', id)));
  const underWay = nodes.filter((node) => node?.record.attempt?.unlimited === true).length;
  await turnGroup(plane, group, { kind: 'counted', underWay });
  return viewWithOffers(plane, await loadGroup(plane, group));
}

/** The versions offered to who stands in the queue: only a policy that makes versions wait looks. */
async function offeredIn(plane: ControlPlane, { own, fallback }: GroupPair): Promise<string[]> {
  const { version, after } = policyInForce(own, fallback).rollout;
  if (version.minVersionAge === 0 && after === null) return [];
  const versions = new Set<string>();
  await plane.store.queue(own.group, 0, ({ digest }) => {
    if (digest?.offered != null) versions.add(digest.offered);
    return null;
  });
  return [...versions];
}

async function viewWithOffers(plane: ControlPlane, pair: GroupPair): Promise<Counted> {
  const offered = await offeredIn(plane, pair);
  return { view: await viewOf(plane, pair, offered), offered };
}

/**
 * Whether anything may begin now. The group is looked at again when a window opens, or a version has come of age: none of
 * its nodes is before.
 */
async function mayBegin(plane: ControlPlane, { view, offered }: Counted): Promise<boolean> {
  const { group, rollout } = view;
  const { openness, lookAt } = rollout;
  const next = openness.open ? nextOfAge(offered, rollout, plane.now()) : openness.opensAt;
  if (lookAt !== next) await turnGroup(plane, group, { kind: 'lookAt', at: next });
  return openness.open;
}

type Choice = { ready: readonly NodeRecord[]; zone: KeptZone | null };

/** Where the policy spreads over zones: those of the one that is kept, which is written down also when it is left. */
async function ofOneZone(plane: ControlPlane, view: GroupView, ready: readonly NodeRecord[]): Promise<Choice> {
  if (!view.rollout.policy.spreadOverZones) return { ready, zone: null };
  const { chosen, kept } = chooseZone(ready, view.rollout.zone, view.slots.holders.length);
  if (chosen.length === 0 && ready.length > 0) await turnGroup(plane, view.group, { kind: 'keepZone', zone: kept });
  return { ready: chosen, zone: kept };
}

/** Candidates in queue order, read from their own items: the index only proposes. */
async function candidates(
  plane: ControlPlane,
  view: GroupView,
  wanted: number,
  candidate: NodeId | null,
): Promise<NodeRecord[]> {
  for (let limit = wanted + SPARE_CANDIDATES; ; limit *= 4) {
    const proposed = await propose(plane, view, limit, limit > wanted + SPARE_CANDIDATES);
    const ids = candidate === null || proposed.includes(candidate) ? proposed : [...proposed, candidate];
    const loaded = await Promise.all(ids.map((id) => plane.store.load('node', id)));
    const records = loaded.flatMap((node) => (node === null ? [] : [node.record]));
    const ready = nextInQueue(records, view, plane.now());
    if (ready.length >= wanted || proposed.length < limit || limit >= CANDIDATES_MAX) return ready;
  }
}

/**
 * The queue as the index has it; where the policy passes nodes over, those are left out of it at once.
 * @param hidden its first nodes turned out not to be ready: who is offered what may not be taken is left out from here on
 */
async function propose(plane: ControlPlane, view: GroupView, limit: number, hidden: boolean): Promise<NodeId[]> {
  const { group, rollout } = view;
  if (!hidden && !choosesByIndex(view)) return plane.store.queue(group, limit);
  const now = plane.now();
  const kept = rollout.zone?.zone ?? null;
  const inQueue = await plane.store.queue(group, limit, (line) => placeOf(line, view, now));
  if (!rollout.policy.spreadOverZones || kept === null) return inQueue;
  // Of another zone one is enough to know whether way is to be made.
  const here = await plane.store.queue(group, limit, (line) =>
    line.digest === null || line.digest.zone === kept ? placeOf(line, view, now) : null,
  );
  return [...new Set([...here, ...inQueue])];
}

type Claimed = { nodeId: NodeId; claim: { claimId: string; at: Instant } | null };

/** Slots first, for all of them in one write, then the specs. */
async function claimSlots(
  plane: ControlPlane,
  { group, slots }: GroupView,
  { ready, zone }: Choice,
): Promise<Claimed[]> {
  if (ready.length === 0) return [];
  const { limit } = slots;
  if (limit === null) {
    const noted = await turnGroup(plane, group, { kind: 'slotless' });
    return noted.kind === 'refused' ? [] : ready.map(({ nodeId }) => ({ nodeId, claim: null }));
  }
  const at = plane.now();
  const claims = ready.map(({ nodeId }) => ({ nodeId, claimId: plane.draw().id }));
  const most = slots.room === null ? limit : Math.min(limit, slots.room);
  const kept = zone === null ? {} : { zone };
  const result = await turnGroup(plane, group, { kind: 'claim', claims, limit: most, ...kept });
  if (result.kind !== 'changed') return [];
  const { record } = result;
  return claims.flatMap(({ nodeId, claimId }) =>
    record.slots[nodeId]?.claimId === claimId ? [{ nodeId, claim: { claimId, at } }] : [],
  );
}

/** A node that turned out not to be ready gives the slot back. */
async function startOne(
  plane: ControlPlane,
  view: GroupView,
  { nodeId, claim }: Claimed,
  told: boolean,
): Promise<NodeRecord | null> {
  const { group } = view;
  const event: NodeEvent = { kind: 'start', claim, told };
  const result = await turn(plane, 'node', nodeId, async (record) => {
    if (record?.group !== group) {
      const detail = `node ${nodeId} is not in group ${group}`;
      return { kind: 'refused', refusal: { status: 409, code: 'NodeNotReady', detail } };
    }
    return decideNode(record, event, { ...(await contextOf(plane, nodeId, record, event)), group: view });
  });
  if (result.kind === 'changed') return result.record;
  if (claim !== null) await turnGroup(plane, group, { kind: 'release', nodeId, claimId: claim.claimId });
  return null;
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
      const result = await turn(plane, 'node', nodeId, async (record) =>
        decideNode(record, event, await contextOf(plane, nodeId, record, event)),
      );
      if (result.kind === 'refused' && result.refusal.code === 'SlotInUse') continue;
    }
    await turnGroup(plane, own.group, { kind: 'release', nodeId, claimId: slot.claimId });
    freed += 1;
  }
  return freed;
}
