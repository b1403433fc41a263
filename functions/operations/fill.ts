/**
 * The one idempotent `fill` that gives a group's free slots away, a bounded piece at a time (DESIGN section 2 rule 4). It
 * runs in the background, for whoever asked for it, and in each sweep; a node tries for itself in `start-own.ts`.
 */
import { nextInQueue } from '../../core/group/fill.ts';
import { type Claim, claimIdFrom } from '../../core/group/group.ts';
import { type GroupRecord, policyInForce, SLOT_STALE_AFTER } from '../../core/group/record.ts';
import { isSettling, mustCount } from '../../core/group/slots.ts';
import type { GroupView } from '../../core/group/view.ts';
import type { GroupId, NodeId } from '../../core/kit/ids.ts';
import { between, type Instant, seconds } from '../../core/kit/time.ts';
import { decideNode } from '../../core/node/decide.ts';
import type { NodeEvent } from '../../core/node/event.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import type { ControlPlane } from '../ports.ts';
import { loadMany, loadReadable } from '../unreadable.ts';
import { turn, turnRead } from '../turn.ts';
import { choosesByIndex, nextOfAge, placeOf } from '../../core/rollout/queue-choice.ts';
import { chooseZone, type KeptZone } from '../../core/rollout/zone.ts';
import { type GroupPair, loadGroup, turnGroup, viewOf } from './groups.ts';
import { contextOf, startContext } from './node-context.ts';

/** How many are started in one piece; the rest is left to the next one, which is asked for at once. */
const STARTS_IN_PIECE = 100;
/** Of them so many at the same time; before each such batch the group is asked whether it was paused. */
const STARTS_AT_ONCE = 25;
/** A piece that takes longer gives back what it has not started: a timer's handler is ended after 30 s. */
const PIECE_TAKES = seconds(12);
/** The queue's index may lag, and who waits for something else stands in it too: so many more are looked at. */
const SPARE_CANDIDATES = 8;
const CANDIDATES_MAX = 1600;

/** Of one piece: whether there is another, and the claims that it did not use. */
type Piece = { more: boolean; back: Claim[] };
const NOTHING: Piece = { more: false, back: [] };

/**
 * Gives the next free slots of the group to the nodes that are next, and asks for another piece if that was not all.
 * Idempotent: run twice, or by two callers at once, it starts nobody twice.
 */
export async function fill(plane: ControlPlane, group: GroupId): Promise<void> {
  const pair = await loadGroup(plane, group);
  if (pair.own.pausedBy !== null) return;
  const answers = pair.own.fill ?? null;
  const { more, back } = await fillPiece(plane, pair);
  if (answers !== null || more || back.length > 0)
    await turnGroup(plane, group, { kind: 'filled', answers, more, back });
}

async function fillPiece(plane: ControlPlane, pair: GroupPair): Promise<Piece> {
  const began = plane.now();
  const counted = await countedView(plane, pair);
  if (!(await mayBegin(plane, counted))) return NOTHING;
  const { view } = counted;
  const free = view.slots.free ?? Infinity;
  const wanted = Math.min(free, STARTS_IN_PIECE);
  const ready = wanted === 0 ? [] : await candidates(plane, view, wanted);
  const choice = await ofOneZone(plane, view, ready);
  const claimed = await claimSlots(plane, view, { ready: choice.ready.slice(0, wanted), zone: choice.zone });
  const more = free > wanted && ready.length >= wanted;
  return { more, back: await startClaimed(plane, view, claimed, began) };
}

/** @returns the claims of those that did not start */
async function startClaimed(
  plane: ControlPlane,
  view: GroupView,
  claimed: readonly Claimed[],
  began: Instant,
): Promise<Claim[]> {
  const back: Claim[] = [];
  for (let from = 0; from < claimed.length; from += STARTS_AT_ONCE) {
    const batch = claimed.slice(from, from + STARTS_AT_ONCE);
    const late = between(began, plane.now()) > PIECE_TAKES;
    if (from > 0 && (late || (await isPaused(plane, view.group)))) {
      back.push(...claimed.slice(from).flatMap(claimOf));
      break;
    }
    const results = await Promise.allSettled(batch.map((claim) => startOne(plane, view, claim, false)));
    results.forEach((result, index) => {
      const one = batch[index];
      if (one === undefined) return;
      if (result.status === 'fulfilled' && result.value === null) back.push(...claimOf(one));
      // It may have started all the same: its slot is looked at after two minutes.
      if (result.status === 'rejected')
        plane.telemetry.warn(`node ${one.nodeId} could not be started`, { error: String(result.reason) });
    });
  }
  return back;
}

const claimOf = ({ nodeId, claim }: Claimed): Claim[] => (claim === null ? [] : [{ nodeId, claimId: claim.claimId }]);

const isPaused = async (plane: ControlPlane, group: GroupId): Promise<boolean> =>
  (await plane.store.load('group', group))?.record.pausedBy != null;

/** A group, and what is offered to who stands in its queue. */
type Counted = { view: GroupView; offered: readonly string[] };

/** The group, with the nodes that began without a limit counted. */
async function countedView(plane: ControlPlane, pair: GroupPair): Promise<Counted> {
  const { own, fallback } = pair;
  const { group } = own;
  const { view, offered } = await viewWithOffers(plane, pair);
  if (view.slots.limit === null) {
    if (own.uncountedSince !== null) await turnGroup(plane, group, { kind: 'limitless' });
    return { view, offered };
  }
  // Starts decided before the limit may still land: what is counted before they have says nothing.
  if (!mustCount(own) || isSettling(own, fallback, plane.now())) return { view, offered };
  const ids = await plane.store.underWay(group);
  const { records, unreadable } = await loadMany(plane, 'node', ids);
  // What cannot be read may be under way.
  const underWay = records.filter(({ attempt }) => attempt?.unlimited === true).length + unreadable.length;
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

/**
 * Candidates in queue order, read from their own items: the index only proposes. Who holds a slot already is under way, or
 * about to be.
 */
async function candidates(plane: ControlPlane, view: GroupView, wanted: number): Promise<NodeRecord[]> {
  const holders = new Set(view.slots.holders);
  const read = new Map<NodeId, NodeRecord | null>();
  let missing = wanted;
  for (let limit = wanted + SPARE_CANDIDATES; ; limit *= 4) {
    const proposed = await propose(plane, view, limit, limit > wanted + SPARE_CANDIDATES);
    const unread = proposed.filter((id) => !holders.has(id) && !read.has(id));
    for (let from = 0; ;) {
      const some = unread.slice(from, from + missing + SPARE_CANDIDATES);
      from += some.length;
      const { records } = await loadMany(plane, 'node', some);
      for (const id of some) read.set(id, null);
      for (const record of records) read.set(record.nodeId, record);
      const found = [...read.values()].filter((record) => record !== null);
      const ready = nextInQueue(found, view, plane.now());
      if (ready.length >= wanted) return ready;
      missing = wanted - ready.length;
      if (from >= unread.length) {
        if (proposed.length < limit || limit >= CANDIDATES_MAX) return ready;
        break;
      }
    }
  }
}

/**
 * The queue as the index has it; where the policy passes nodes over, those are left out of it at once.
 * @param hidden its first nodes turned out not to be ready: who is offered what may not be taken is left out from here on
 */
export async function propose(plane: ControlPlane, view: GroupView, limit: number, hidden: boolean): Promise<NodeId[]> {
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

/** @property read as it was read for the queue; null: it is read for its start */
export type Claimed = { nodeId: NodeId; claim: { claimId: string; at: Instant } | null; read: NodeRecord | null };

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
    return noted.kind === 'refused' ? [] : ready.map((read) => ({ nodeId: read.nodeId, claim: null, read }));
  }
  const at = plane.now();
  const claimed = ready.map((read) => ({
    nodeId: read.nodeId,
    claim: { claimId: claimIdFrom(plane.draw()), at },
    read,
  }));
  const claims = claimed.map(({ nodeId, claim }) => ({ nodeId, claimId: claim.claimId }));
  const most = slots.room === null ? limit : Math.min(limit, slots.room);
  const kept = zone === null ? {} : { zone };
  const result = await turnGroup(plane, group, { kind: 'claim', claims, limit: most, ...kept });
  if (result.kind !== 'changed') return [];
  const { record } = result;
  return claimed.filter(({ nodeId, claim }) => record.slots[nodeId]?.claimId === claim.claimId);
}

/**
 * Moves the node's spec, with the slot that was claimed for it.
 * @param told its report is being answered: its start is acknowledged by that answer
 * @returns null when the node turned out not to be ready: the slot is to be given back
 */
export async function startOne(
  plane: ControlPlane,
  view: GroupView,
  { nodeId, claim, read }: Claimed,
  told: boolean,
): Promise<NodeRecord | null> {
  const { group } = view;
  const event: NodeEvent = { kind: 'start', claim, told };
  const result = await turnRead(plane, { kind: 'node', id: nodeId, read }, async (record) => {
    if (record?.group !== group) {
      const detail = `node ${nodeId} is not in group ${group}`;
      return { kind: 'refused', refusal: { status: 409, code: 'NodeNotReady', detail } };
    }
    return decideNode(record, event, await startContext(plane, record, event, view));
  });
  return result.kind === 'changed' ? result.record : null;
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
    const node = await loadReadable(plane, 'node', nodeId);
    // One that cannot be read keeps it: it may be under way.
    if (node !== null && 'why' in node) continue;
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
