/**
 * The one ordered list of what a ready node still waits for: it decides, it explains, and it is what is shown
 * (DESIGN section 2b). A gate is a file of this folder and a line here.
 */
import type { GroupView } from '../group/view.ts';
import { type Instant } from '../kit/time.ts';
import { offerOf } from '../node/offer.ts';
import { type NodeRecord, waitsStaged } from '../node/record.ts';
import { alarmRinging } from './alarm-ringing.ts';
import { backingOff } from './backing-off.ts';
import { breakerOpen } from './breaker-open.ts';
import type { Gate, OwnGate, Question, Stage, Waiting } from './gate.ts';
import { gaveUp } from './gave-up.ts';
import { held } from './held.ts';
import { noSlot } from './no-slot.ts';
import { otherZone } from './other-zone.ts';
import { outsideWindow } from './outside-window.ts';
import { paused } from './paused.ts';
import { tooManyDown } from './too-many-down.ts';
import { versionBlocked } from './version-blocked.ts';
import { versionNotAllowed } from './version-not-allowed.ts';
import { versionTooYoung } from './version-too-young.ts';
import { vmBlocksMaintenance } from './vm-blocks-maintenance.ts';
import { waitsForGroup } from './waits-for-group.ts';

/** In the order in which they are said: the first that is closed is what the node waits for. */
export const GATES: readonly Gate[] = [
  held,
  gaveUp,
  backingOff,
  versionNotAllowed,
  versionBlocked,
  breakerOpen,
  versionTooYoung,
  waitsForGroup,
  paused,
  alarmRinging,
  outsideWindow,
  otherZone,
  tooManyDown,
  vmBlocksMaintenance,
  noSlot,
];

/** Those that the node alone answers: while one is closed it is not in its group's queue. */
const OWN_GATES: readonly OwnGate[] = [held, backingOff, versionBlocked, vmBlocksMaintenance];

const askedAt = (stage: Stage): readonly Gate[] => GATES.filter(({ at }) => at.includes(stage));
/** By stage, found out once: every step of every node asks. */
const ASKED: Readonly<Record<Stage, readonly Gate[]>> = {
  start: askedAt('start'),
  activation: askedAt('activation'),
  reboot: askedAt('reboot'),
};

/** A gate found closed, with what follows from it. */
export type Stop = Waiting & Pick<Gate, 'endsAttempt' | 'keepsSlot' | 'recalls'>;

/** Every gate that is closed, first the one that is said. */
export function stopsAt(stage: Stage, about: Omit<Question, 'stage'>): Stop[] {
  const question = { ...about, stage };
  const stops: Stop[] = [];
  for (const { code, endsAttempt, keepsSlot, recalls, ask } of ASKED[stage]) {
    const closed = ask(question);
    if (closed !== null)
      stops.push({ code, endsAttempt, keepsSlot, ...(recalls === true ? { recalls } : {}), ...closed });
  }
  return stops;
}

/** What keeps an Idle node from starting: the gates, and what it was refused the last time (DESIGN section 2 rule 5). */
export function stopsStart(node: NodeRecord, group: GroupView, version: string | null, now: Instant): Stop[] {
  const stops = stopsAt('start', { node, group, version, now });
  const refused = refusal(node, group, now);
  if (refused === null || stops.some(({ code }) => code === refused.code)) return stops;
  return inOrder([...stops, refused]);
}

const ORDER = GATES.map(({ code }) => code);
const inOrder = (stops: Stop[]): Stop[] => stops.sort((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code));

/** The gate that ended the last attempt because of the version it had staged, while that still stands. */
function refusal(node: NodeRecord, group: GroupView, now: Instant): Stop | null {
  const { refusedOffer } = node;
  if (refusedOffer == null || refusedOffer.code === null || !refusalStands(node, group, now)) return null;
  const gate = GATES.find(({ code }) => code === refusedOffer.code);
  const closed = gate?.ask({ node, group, version: refusedOffer.version, stage: 'activation', now }) ?? null;
  if (gate === undefined || closed === null) return null;
  const until = closed.until === null || closed.until > refusedOffer.until ? refusedOffer.until : closed.until;
  return { code: gate.code, endsAttempt: gate.endsAttempt, keepsSlot: gate.keepsSlot, words: closed.words, until };
}

/** Until the offer changes, the policy is put anew, or its time is over. */
function refusalStands({ refusedOffer, status }: NodeRecord, group: GroupView, now: Instant): boolean {
  if (refusedOffer == null || now >= refusedOffer.until) return false;
  if (group.putAt !== null && group.putAt > refusedOffer.at) return false;
  return (status?.updateCheck.version ?? null) === refusedOffer.offer;
}

/** Until when no attempt begins because the version staged last was what runs already; null: nothing of the kind. */
export function ranAlready(node: NodeRecord, group: GroupView, now: Instant): Instant | null {
  const { refusedOffer } = node;
  return refusedOffer?.code === null && refusalStands(node, group, now) ? refusedOffer.until : null;
}

/** Whether the node lacks nothing but a slot: an Idle one to start, a staged one to go on. */
export function mayClaim(node: NodeRecord, group: GroupView, now: Instant): boolean {
  const lacksOnlySlot = (stops: readonly Stop[]): boolean => stops.every(({ code }) => code === 'NoSlot');
  if (waitsStaged(node)) {
    const stops = stopsAt('activation', { node, group, version: node.spec.version, now });
    return stops.length === 1 && lacksOnlySlot(stops);
  }
  const offer = offerOf(node);
  if (offer.kind !== 'newer' || ranAlready(node, group, now) !== null) return false;
  return lacksOnlySlot(stopsStart(node, group, offer.version, now));
}

/** Whether the node belongs in its group's queue, as far as its own record tells. */
export function queues(node: NodeRecord, now: Instant): boolean {
  const stage = waitsStaged(node) ? 'activation' : 'start';
  const offer = offerOf(node);
  if (stage === 'start' && offer.kind !== 'newer') return false;
  if (stage === 'activation' && (node.attempt?.claimId !== null || node.attempt.unlimited)) return false;
  const version = offer.kind === 'newer' ? offer.version : node.spec.version;
  return OWN_GATES.every((gate) => !gate.at.includes(stage) || gate.ask({ node, version, stage, now }) === null);
}
