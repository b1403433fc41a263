/** When a node must be looked at again, and what is counted of it. */
import type { Alarm } from '../decision/alarm.ts';
import { after, earliest, type Instant, minutes } from '../kit/time.ts';
import { blockEnds } from './blocks.ts';
import { stepDue } from './deadline.ts';
import { givenUp } from './given-up.ts';
import { offerOf } from './offer.ts';
import { type NodeRecord, SILENT_AFTER } from './record.ts';
import { isStopped, lastSign } from './signs.ts';

/** The earliest instant for which a timer is armed; null when the node waits for nothing that time brings. */
export function nodeAlarm(node: NodeRecord): Alarm | null {
  if (node.removed !== null) return null;
  const resetAt = givenUp(node, node.policy.backoff) ? null : node.crash.resetAt;
  if (isStopped(node)) return resetAt === null ? null : { at: resetAt, retry: false };
  const retryAt = retryInstant(node);
  const refusedUntil = node.refusedOffer?.until ?? null;
  const at = earliest([
    retryAt,
    resetAt,
    node.spec.nextWakeAt,
    stepDue(node)?.at ?? null,
    refusedUntil,
    blockEnd(node),
  ]);
  return at === null ? null : { at, retry: at === retryAt };
}

/** Only an Idle node waits for its retry, and only one that has something to try; a recovering one first comes back. */
function retryInstant(node: NodeRecord): Instant | null {
  const offer = offerOf(node);
  const wants = offer.kind === 'newer' && (offer.version === null || !node.blockedVersions.includes(offer.version));
  return wants && node.waitingSince === null && node.heldBy === null ? node.crash.retryAfter : null;
}

/** When the version that is offered may be tried again. */
function blockEnd(node: NodeRecord): Instant | null {
  const offer = offerOf(node);
  return offer.kind === 'newer' && offer.version !== null ? blockEnds(node, offer.version) : null;
}

/** The instant under which the node stands in the due-time index: its alarm, when its silence must be noticed, or since when its VMs are to be told of it. */
export function nodeDueAt(node: NodeRecord): Instant | null {
  const untold = node.untold?.at ?? null;
  const lease = node.leaseLookAt ?? null;
  if (node.removed !== null) return earliest([untold, lease]);
  return earliest([nodeAlarm(node)?.at ?? null, silenceLook(node), untold, lease]);
}

/** When the sweep must look whether the node is silent; never later than the first instant at which it can be. */
export function silenceLook(node: NodeRecord): Instant | null {
  const last = node.silentSince !== null || isStopped(node) ? null : lastSign(node);
  return last === null ? null : earliest([node.silenceLookAt ?? null, after(last, SILENT_AFTER)]);
}

/** Two of its reports at rest, each a tenth late: by then the next one is written, and the key moves on with it. */
const LOOK_KEPT_FOR = minutes(45);

/**
 * A new key in the index costs two writes of DynamoDB, as much as a small item itself. So the key of before stays while the
 * next report that is written will come in time to move it: of a node at rest every second one does (docs/cost.md). If
 * none comes, the sweep looks early, and again at the very instant.
 */
export function withSilenceLook(before: NodeRecord, node: NodeRecord, now: Instant): NodeRecord {
  const rest = withoutSilenceLook(node);
  const kept = silenceLook(before);
  const at = silenceLook(rest);
  const stays = kept !== null && at !== null && kept < at && kept >= after(now, LOOK_KEPT_FOR);
  return stays ? { ...rest, silenceLookAt: kept } : rest;
}

/** It was looked at too early: the key moves on to the instant at which it can be silent. */
export function lookLater(node: NodeRecord, now: Instant): NodeRecord {
  return node.silenceLookAt === undefined || node.silenceLookAt > now ? node : withoutSilenceLook(node);
}

/** Most have none: then nothing is copied. */
function withoutSilenceLook(node: NodeRecord): NodeRecord {
  if (node.silenceLookAt === undefined) return node;
  const { silenceLookAt: _past, ...rest } = node;
  return rest;
}

/** What the gauges and the attention index say of a node. */
export type NodeConcerns = {
  backingOff: boolean;
  unreachable: boolean;
  silent: boolean;
  gaveUp: boolean;
  /** It has a version that it does not take again by itself for a while. */
  blocked: boolean;
};

/** Crashes on record that need a person: the wait for the next attempt comes and goes, the record stays. */
const CRASHES_OF_A_LOOP = 3;

export const inCrashLoop = (node: NodeRecord): boolean => !isStopped(node) && node.crash.count >= CRASHES_OF_A_LOOP;

export function nodeConcerns(node: NodeRecord): NodeConcerns {
  const there = node.removed === null;
  return {
    backingOff: there && inCrashLoop(node),
    unreachable: there && node.unreachableSince !== null,
    silent: there && node.silentSince !== null,
    gaveUp: there && givenUp(node, node.policy.backoff),
    blocked: there && node.blockedVersions.length > 0,
  };
}
