/** How many nodes of a group may be under way, and how many more: computed here and nowhere else (DESIGN section 2 rule 4). */
import { between, type Duration, type Instant, seconds } from '../kit/time.ts';
import type { GroupPolicy } from '../policy/group-policy.ts';
import { LIMIT_MAX, limitOf } from '../policy/limit.ts';
import type { GroupRecord } from './record.ts';

/** How long after `unlimited` ends a start decided before may still land, and the index may still lag. */
export const COUNT_AFTER: Duration = seconds(30);

export type Slots = {
  /** How many may be under way; null: any number. */
  limit: number | null;
  /** Nodes that hold a slot, in the order of their ids. */
  holders: readonly string[];
  /** Nodes that began without a limit and are still under way, as far as they have been counted. */
  uncounted: number;
  /** Those nodes have not been counted yet: until then none may start. */
  counting: boolean;
  /** How many may hold a slot before too many members are down (`maxUnavailable`); null: any number. */
  room: number | null;
  /** How many more may start; null: any number. */
  free: number | null;
};

export function slotsOf(own: GroupRecord, fallback: GroupRecord, policy: GroupPolicy, now: Instant): Slots {
  const limit = mostSlots(limitOf(policy.concurrency, own.memberCount));
  const holders = Object.keys(own.slots).sort();
  const room = roomOf(own, policy);
  if (limit === null) return { limit, holders, uncounted: 0, counting: false, room, free: null };
  const counting = isSettling(own, fallback, now) || (mustCount(own) && own.uncounted === undefined);
  const uncounted = own.uncounted ?? 0;
  const most = room === null ? limit : Math.min(limit, room);
  const free = counting ? 0 : Math.max(0, most - holders.length - uncounted);
  return { limit, holders, uncounted, counting, room, free };
}

/** Each slot takes room in the group's item: a share of many members ends where a number does. */
const mostSlots = (limit: number | null): number | null => (limit === null ? null : Math.min(limit, LIMIT_MAX));

/** Who is down without a slot takes away from what may be under way (DESIGN section 2b, Down). */
function roomOf({ memberCount, down = 0 }: GroupRecord, { rollout }: GroupPolicy): number | null {
  const most = rollout.maxUnavailable === null ? null : limitOf(rollout.maxUnavailable, memberCount);
  return most === null ? null : Math.max(0, most - down);
}

/** A limit has just come: starts decided before it may still land. */
export function isSettling(own: GroupRecord, fallback: GroupRecord, now: Instant): boolean {
  const since = [own.uncountedSince, own.body === null ? fallback.uncountedSince : null];
  return since.some((at) => at !== null && between(at, now) < COUNT_AFTER);
}

/** Nodes may be under way that hold no slot. */
export const mustCount = (own: GroupRecord): boolean => own.slotless || own.uncountedSince !== null;
