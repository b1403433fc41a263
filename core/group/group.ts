/** What happens to a group: its policy, its pause, and its slots (DESIGN sections 2 and 7). */
import { type GroupState, mayGroup } from '../contract/can.ts';
import { type Draw, type Fact, logEvents, type Outcome, refused, unchanged } from '../decision/fact.ts';
import { DEFAULT_GROUP, type GroupId, type NodeId } from '../kit/ids.ts';
import { after, between, earliest, type Instant } from '../kit/time.ts';
import { type GroupBody, groupPolicyOf } from '../policy/group-policy.ts';
import { askFill, type FillAsked, fillDone } from './fill-asked.ts';
import { decideHome, type HomeEvent } from './home.ts';
import type { KeptZone } from '../rollout/zone.ts';
import { decideRollout, rejudge, type RolloutEvent } from './rollout-events.ts';
import { type GroupRecord, newGroup } from './record.ts';
import { COUNT_AFTER, mustCount } from './slots.ts';

export type GroupEvent =
  /** A node names the group; one that the copy of a restored table did not know begins paused. */
  | { kind: 'ensure'; pausedBy: string | null }
  | { kind: 'put'; body: GroupBody }
  | { kind: 'undeclare' }
  | { kind: 'pause'; by: string }
  | { kind: 'resume' }
  /** As many of them as slots are free, in this order, in one write. */
  | { kind: 'claim'; claims: readonly Claim[]; limit: number; zone?: KeptZone }
  | { kind: 'release'; nodeId: NodeId; claimId: string }
  /** The group may have a node that could start; with `proceed` also one that could go on, or must not. */
  | { kind: 'askFill'; proceed: boolean; soon?: boolean }
  /** A fill is through: what it was asked for, whether there is more, and the claims that it did not use. */
  | { kind: 'filled'; answers: FillAsked | null; more: boolean; back: readonly Claim[] }
  /** A node is about to begin without a slot. */
  | { kind: 'slotless' }
  /** So many of the nodes that began without a slot are still under way. */
  | { kind: 'counted'; underWay: number }
  /** No limit holds: there is nothing to count. */
  | { kind: 'limitless' }
  | RolloutEvent
  | HomeEvent;

export type Claim = { nodeId: NodeId; claimId: string };

/**
 * Five hundred slots stand in one item, so that the id of a claim is as short as telling it from others of the same node
 * allows: 32 bits. Releases before this wrote longer ones, and read any.
 */
export const claimIdFrom = ({ id }: Pick<Draw, 'id'>): string => Number.parseInt(id.slice(0, 8), 16).toString(36);

/** What the table of verbs judges by. */
export const verbState = ({ group, body }: GroupRecord, frozen: string | null): GroupState => ({
  group,
  isDefault: group === DEFAULT_GROUP,
  declared: body !== null,
  frozen,
});

export function decideGroup(
  known: GroupRecord | null,
  group: GroupId,
  event: GroupEvent,
  now: Instant,
): Outcome<GroupRecord> {
  const before = known ?? newGroup(group);
  const write = (next: GroupRecord, facts: Fact[]): Outcome<GroupRecord> => {
    const revision = before.revision + 1;
    // In the same write: that a fill was asked for is lost with no process.
    const asked = facts.some(({ kind }) => kind === 'fill') ? askFill(next, now, true) : next;
    return {
      kind: 'changed',
      next: { ...asked, revision, events: logEvents(next.events, facts, `group/${group}`, revision, now) },
      facts,
    };
  };
  switch (event.kind) {
    case 'ensure':
      return known === null ? write({ ...before, pausedBy: event.pausedBy }, []) : unchanged;
    case 'put':
      return put(before, event.body, known === null, now, write);
    case 'undeclare': {
      const no = mayGroup('delete', verbState(before, null));
      if (no !== null) return refused(no.code === 'GroupNotFound' ? 404 : 409, no.code, no.detail);
      return write({ ...notCounted(before), body: null, putAt: now, uncountedSince: before.slotless ? now : null }, [
        changed("policy deleted: default's holds now"),
        { kind: 'fill', group },
      ]);
    }
    case 'pause':
      return before.pausedBy !== null
        ? unchanged
        : write({ ...before, pausedBy: event.by }, [
            { kind: 'event', type: 'Group Paused', severity: 'warning', message: `paused by ${event.by}` },
          ]);
    case 'resume':
      return before.pausedBy === null
        ? unchanged
        : write({ ...before, pausedBy: null }, [
            {
              kind: 'event',
              type: 'Group Resumed',
              severity: 'info',
              message: `resumed (was paused by ${before.pausedBy})`,
            },
            { kind: 'fill', group },
          ]);
    case 'claim':
      return claim(before, event, now, write);
    case 'release': {
      if (before.slots[event.nodeId]?.claimId !== event.claimId) return unchanged;
      const { [event.nodeId]: _freed, ...slots } = before.slots;
      return write(askFill({ ...before, slots }, now, false), []);
    }
    case 'askFill': {
      const asked = askFill(before, now, event.proceed, event.soon);
      return asked === before ? unchanged : write(asked, []);
    }
    case 'filled': {
      const done = fillDone(before, event.answers, event.more, now);
      const next = giveBack(done, event.back, now);
      return next === before ? unchanged : write(next, []);
    }
    case 'slotless':
      if (before.pausedBy !== null)
        return refused(409, 'GroupPaused', `group ${group} is paused by ${before.pausedBy}`);
      if (before.body !== null && groupPolicyOf(before.body).concurrency.kind !== 'unlimited') {
        return refused(409, 'NoSlot', `group ${group} has a limit again`);
      }
      return before.slotless ? unchanged : write({ ...before, slotless: true }, []);
    case 'moveIn':
    case 'recover':
    case 'recovered': {
      const moved = decideHome(before, event, now);
      return moved.kind === 'changed' ? write(moved.next, moved.facts) : moved;
    }
    case 'crashed':
    case 'closeBreaker':
    case 'openWindow':
    case 'closeWindow':
    case 'expedite':
    case 'keepZone':
    case 'lookAt':
    case 'alarms':
    case 'surveyed': {
      const decided = decideRollout(before, event, now);
      if (decided === null) return unchanged;
      return 'kind' in decided ? decided : write(decided.next, decided.facts);
    }
    case 'counted':
      return counted(before, event.underWay, write);
    case 'limitless':
      // Default's policy was read before: an own limit that was put meanwhile is waited for.
      return before.uncountedSince === null || before.body !== null
        ? unchanged
        : write({ ...notCounted(before), uncountedSince: null }, []);
  }
}

const changed = (message: string): Fact => ({ kind: 'event', type: 'Group Changed', severity: 'info', message });

type Write = (next: GroupRecord, facts: Fact[]) => Outcome<GroupRecord>;

function put(before: GroupRecord, body: GroupBody, isNew: boolean, now: Instant, write: Write): Outcome<GroupRecord> {
  if (!isNew && before.body !== null && JSON.stringify(before.body) === JSON.stringify(body)) return unchanged;
  const was = groupPolicyOf(before.body ?? {}).concurrency.kind;
  const unlimited = groupPolicyOf(body).concurrency.kind === 'unlimited';
  const toCount = !unlimited && (before.slotless || was === 'unlimited');
  const uncountedSince = toCount ? (before.uncountedSince ?? now) : null;
  const judged = rejudge(before, groupPolicyOf(body).rollout.breaker, now);
  return write({ ...notCounted(judged.next), body, putAt: now, uncountedSince }, [
    changed(sayChange(before.body, body)),
    ...judged.facts.filter(({ kind }) => kind === 'event'),
    { kind: 'fill', group: before.group },
  ]);
}

/** Only the names of what is now different: a policy is long, and the last 20 events stand in the item. */
function sayChange(before: GroupBody | null, body: GroupBody): string {
  const keys = new Set([...Object.keys(before ?? {}), ...Object.keys(body)]) as Set<keyof GroupBody>;
  const names = [...keys].filter((key) => JSON.stringify(before?.[key]) !== JSON.stringify(body[key])).sort();
  if (names.length === 0) return 'policy set: as it was';
  return `policy set: ${names.map((key) => (body[key] === undefined ? `${key} taken away` : key)).join(', ')}`;
}

function notCounted({ uncounted: _asOfThen, ...group }: GroupRecord): GroupRecord {
  return group;
}

function counted(before: GroupRecord, underWay: number, write: Write): Outcome<GroupRecord> {
  if (!mustCount(before) || before.uncounted === underWay) return unchanged;
  if (underWay > 0) return write({ ...before, uncounted: underWay }, []);
  return write({ ...notCounted(before), slotless: false, uncountedSince: null }, []);
}

/** What a fill claimed and did not use. It is tried again, but not at once. */
function giveBack(group: GroupRecord, back: readonly Claim[], now: Instant): GroupRecord {
  const unused = new Map<string, string>(back.map(({ nodeId, claimId }) => [nodeId, claimId]));
  const kept = Object.entries(group.slots).filter(([nodeId, { claimId }]) => unused.get(nodeId) !== claimId);
  if (kept.length === Object.keys(group.slots).length) return group;
  const slots = Object.fromEntries(kept);
  return askFill({ ...group, slots }, now, false, true);
}

/** @returns refused when not a single one fits; who of several got a slot stands in the record */
function claim(
  before: GroupRecord,
  { claims, limit, zone }: Extract<GroupEvent, { kind: 'claim' }>,
  now: Instant,
  write: Write,
): Outcome<GroupRecord> {
  const { group, pausedBy, uncountedSince } = before;
  if (pausedBy !== null) return refused(409, 'GroupPaused', `group ${group} is paused by ${pausedBy}`);
  const wanted = claims.filter(({ nodeId }) => before.slots[nodeId] === undefined);
  const [first] = claims;
  if (wanted.length === 0)
    return refused(409, 'SlotTaken', `node ${first?.nodeId ?? ''} already has a slot in ${group}`);
  const fresh = uncountedSince !== null && between(uncountedSince, now) < COUNT_AFTER;
  const free = limit - Object.keys(before.slots).length - (before.uncounted ?? 0);
  if (fresh || free <= 0) return refused(409, 'NoSlot', `group ${group} has ${limit} slots and none is free`);
  if (zone !== undefined && zone.zone !== (before.zone?.zone ?? zone.zone) && Object.keys(before.slots).length > 0) {
    return refused(409, 'OtherZone', `group ${group} is being updated in zone ${before.zone?.zone ?? 'unknown'}`);
  }
  const given = wanted.slice(0, free).map(({ nodeId, claimId }) => [nodeId, { claimId, at: now }] as const);
  const slots = { ...before.slots, ...Object.fromEntries(given) };
  return write({ ...before, slots, ...(zone === undefined ? {} : { zone }) }, []);
}

/**
 * When a group must be looked at again by itself: once nodes that started without a limit can have been counted, when a
 * window opens, and when a fill was asked for. A paused one starts nothing, and is looked at when it is resumed.
 */
export function groupDueAt({ uncountedSince, pausedBy, lookAt = null, fill = null }: GroupRecord): Instant | null {
  if (pausedBy !== null) return null;
  return earliest([uncountedSince === null ? null : after(uncountedSince, COUNT_AFTER), lookAt, fill?.at ?? null]);
}

/** The instant for which its timer is armed: a fill that was asked for goes before a wait that may be long overdue. */
export const groupAlarmAt = (group: GroupRecord): Instant | null =>
  group.pausedBy === null && group.fill != null ? group.fill.at : groupDueAt(group);
