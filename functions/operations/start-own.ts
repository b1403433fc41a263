/**
 * A node that came into its group's queue tries once for a slot of its own, so that the answer to its report carries the
 * new spec; all else is left to the one queued filler of the group (DESIGN section 2 rule 4).
 */
import { type Claim, claimIdFrom, decideGroup, type GroupEvent } from '../../core/group/group.ts';
import { type GroupRecord, newGroup } from '../../core/group/record.ts';
import { mustCount } from '../../core/group/slots.ts';
import type { GroupView } from '../../core/group/view.ts';
import { unchanged } from '../../core/decision/fact.ts';
import type { GroupId } from '../../core/kit/ids.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { mayClaim } from '../../core/rollout/gates.ts';
import { chooseZone, type KeptZone } from '../../core/rollout/zone.ts';
import type { ControlPlane } from '../ports.ts';
import { turnRead } from '../turn.ts';
import { propose, startOne } from './fill.ts';
import { pairOf, turnGroup, viewOf } from './groups.ts';
import { leftToSweep } from './left-to-sweep.ts';

export type Trial = {
  /** Its report is being answered: its start is acknowledged by that answer. */
  told: boolean;
  /** It has just freed a slot itself, for which a fill was asked: others may have waited for it. */
  freed?: boolean;
  /** Its group as it was read a moment ago; null or absent: it was not. */
  own?: GroupRecord | null;
};

/** Who lost the race stands back so long at most before it looks whether somebody has asked for the filler. */
const CROWD_MS = 250;

/** @returns the node as it is after its start, if it was started */
export const startOwn = (plane: ControlPlane, node: NodeRecord, trial: Trial): Promise<NodeRecord | null> =>
  leftToSweep(plane, notFilled(node.group), async () => {
    if (node.waitingSince !== null) return tryOnce(plane, node, trial);
    if (trial.freed !== true) await turnGroup(plane, node.group, ASK);
    return null;
  });

/** Asks for the filler of a group. */
export async function askFill(plane: ControlPlane, group: GroupId, proceed: boolean): Promise<void> {
  await leftToSweep(plane, notFilled(group), () => turnGroup(plane, group, { kind: 'askFill', proceed }));
}

const notFilled = (group: GroupId): string => `group ${group} could not be filled`;

type Chance =
  /** Nothing can start now, and whatever changes that asks for a fill. */
  { kind: 'none' } | { kind: 'ask' } | { kind: 'try'; view: GroupView; zone: KeptZone | null };

/** Who loses the race for it asks instead: a crowd makes one attempt each, and stands in the queue. */
async function tryOnce(plane: ControlPlane, node: NodeRecord, trial: Trial): Promise<NodeRecord | null> {
  const { nodeId, group } = node;
  const claimId = claimIdFrom(plane.draw());
  let tried = null as GroupView | null; // assigned in the closure below
  let lost = false;
  const known = trial.own?.group === group && trial.own.revision > 0 ? trial.own : null;
  // What was read before the node's own write is good for a claim and for nothing else: a filler may have been through since.
  const early = known === null || trial.freed === true ? null : await chanceOf(plane, known, node, trial);
  const read = early?.kind === 'try' ? known : null;
  const result = await turnRead(plane, { kind: 'group', id: group, read, crowdMs: CROWD_MS }, async (own) => {
    lost = tried !== null;
    if (lost) return decideGroup(own, group, ASK_SOON, plane.now());
    const chance = early?.kind === 'try' ? early : await chanceOf(plane, own ?? newGroup(group), node, trial);
    if (chance.kind === 'none') return unchanged;
    if (chance.kind === 'try') tried = chance.view;
    const event = chance.kind === 'try' ? claimOf(chance, { nodeId, claimId }) : ASK;
    return decideGroup(own, group, event, plane.now());
  });
  if (tried === null || lost || result.kind === 'refused') return null;
  const view = tried;
  if (view.slots.limit === null) return startOne(plane, view, { nodeId, claim: null, read: null }, trial.told);
  const claim = result.record?.slots[nodeId] ?? null;
  if (claim?.claimId !== claimId) return null;
  const started = (await isNext(plane, view, node))
    ? await startOne(plane, view, { nodeId, claim, read: null }, trial.told)
    : null;
  if (started === null) await turnGroup(plane, group, { kind: 'release', nodeId, claimId });
  return started;
}

const ASK: GroupEvent = { kind: 'askFill', proceed: false };
/** There is a crowd: one filler for all who come within the next moment. */
const ASK_SOON: GroupEvent = { ...ASK, soon: true };

function claimOf({ view, zone }: Extract<Chance, { kind: 'try' }>, claim: Claim): GroupEvent {
  const { limit, room } = view.slots;
  if (limit === null) return { kind: 'slotless' };
  const most = room === null ? limit : Math.min(limit, room);
  return { kind: 'claim', claims: [claim], limit: most, ...(zone === null ? {} : { zone }) };
}

async function chanceOf(
  plane: ControlPlane,
  own: GroupRecord,
  node: NodeRecord,
  { freed = false }: Trial,
): Promise<Chance> {
  const now = plane.now();
  if (own.pausedBy !== null) return { kind: 'none' };
  // A crowd waits before it, and the fill for it is not through.
  if (own.fill?.busy === true && !freed) return { kind: 'ask' };
  const view = await viewOf(plane, await pairOf(plane, own), [node.status?.updateCheck.version]);
  const { openness, lookAt, policy } = view.rollout;
  if (!openness.open) return { kind: lookAt === openness.opensAt ? 'none' : 'ask' };
  const { limit, free } = view.slots;
  if (free === 0) return { kind: 'none' };
  const toCount = limit === null ? own.uncountedSince !== null : mustCount(own);
  if (toCount || !mayClaim(node, view, now)) return { kind: 'ask' };
  if (!policy.spreadOverZones) return { kind: 'try', view, zone: null };
  const { chosen, kept } = chooseZone([node], view.rollout.zone, view.slots.holders.length);
  return chosen.length === 0 ? { kind: 'ask' } : { kind: 'try', view, zone: kept };
}

/**
 * Whether fewer wait before the node than slots were free, and of several zones nobody at all. Looked at with the slot in
 * hand: of a crowd one gets that far, and the rest has not asked the index.
 */
async function isNext(plane: ControlPlane, view: GroupView, { nodeId }: NodeRecord): Promise<boolean> {
  const free = view.slots.free ?? Infinity;
  const zones = view.rollout.policy.spreadOverZones;
  const inQueue = await propose(plane, view, zones ? 2 : free, false);
  const place = inQueue.indexOf(nodeId);
  // The index may not have the node yet: then it stands behind all that it has.
  const others = place >= 0 && !zones ? place : inQueue.filter((id) => id !== nodeId).length;
  return others < (zones ? 1 : free);
}
