/** A group: its policy, its pause, and its slots (DESIGN sections 2 and 7). */
import type { GroupJson } from '../contract/answers.ts';
import type { GroupBody } from '../policy/group-policy.ts';
import { drainTimeout } from '../policy/drain.ts';
import { type Aggregate, type Fact, logEvents, type Outcome, refused, unchanged } from '../decision/fact.ts';
import { decideHome, type HomeEvent, type Recovery } from './home.ts';
import { DEFAULT_GROUP, type GroupId, type NodeId } from '../kit/ids.ts';
import { type GroupPolicy, groupPolicyOf } from '../policy/group-policy.ts';
import { limitOf } from '../policy/limit.ts';
import { after, between, formatDuration, type Instant, minutes, seconds } from '../kit/time.ts';

export type Slot = { claimId: string; at: Instant };

export type GroupRecord = Aggregate & {
  kind: 'group';
  group: GroupId;
  /** The body an operator put; null for a group that only nodes have named: it has default's policy. */
  body: GroupBody | null;
  pausedBy: string | null;
  slots: Record<string, Slot>;
  /** Members, as the sweep last counted them. */
  memberCount: number | null;
  /**
   * Nodes began here while there was no limit, in the group's own policy or in default's: once a limit holds they must
   * be counted before one more starts.
   */
  slotless: boolean;
  /** Since when a limit holds after `unlimited`, until the nodes without a slot are all back. */
  uncountedSince: Instant | null;
  /** Of `default` alone: the table this deployment lives in, and its last recovery after a restore. */
  home?: string;
  recovery?: Recovery;
};

/** A slot older than this whose node is not under way with it is freed by the sweep (DESIGN section 7). */
export const SLOT_STALE_AFTER = minutes(2);
/** How long after `unlimited` ends a start decided before may still land, and the index may still lag. */
export const UNCOUNTED_SETTLE = seconds(30);

export const newGroup = (group: GroupId): GroupRecord => ({
  kind: 'group',
  revision: 0,
  events: [],
  group,
  body: group === DEFAULT_GROUP ? {} : null,
  pausedBy: null,
  slots: {},
  memberCount: null,
  slotless: false,
  uncountedSince: null,
});

/** The policy in force: its own, or default's for an undeclared group. */
export const policyInForce = (own: GroupRecord, fallback: GroupRecord): GroupPolicy =>
  groupPolicyOf(own.body ?? fallback.body ?? {});

export type GroupEvent =
  /** A node names the group; one that the copy of a restored table did not know begins paused. */
  | { kind: 'ensure'; pausedBy: string | null }
  | { kind: 'put'; body: GroupBody }
  | { kind: 'undeclare' }
  | { kind: 'pause'; by: string }
  | { kind: 'resume' }
  | { kind: 'claim'; nodeId: NodeId; claimId: string; limit: number; uncounted: number }
  | { kind: 'release'; nodeId: NodeId; claimId: string }
  | { kind: 'count'; members: number }
  /** A node is about to begin without a slot. */
  | { kind: 'slotless' }
  | { kind: 'counted' }
  /** No limit holds: there is nothing to count. */
  | { kind: 'limitless' }
  | HomeEvent;

export function decideGroup(
  known: GroupRecord | null,
  group: GroupId,
  event: GroupEvent,
  now: Instant,
): Outcome<GroupRecord> {
  const before = known ?? newGroup(group);
  const write = (next: GroupRecord, facts: Fact[]): Outcome<GroupRecord> => {
    const revision = before.revision + 1;
    return {
      kind: 'changed',
      next: { ...next, revision, events: logEvents(next.events, facts, `group/${group}`, revision, now) },
      facts,
    };
  };
  switch (event.kind) {
    case 'ensure':
      return known === null ? write({ ...before, pausedBy: event.pausedBy }, []) : unchanged;
    case 'put':
      return put(before, event.body, known === null, now, write);
    case 'undeclare':
      if (group === DEFAULT_GROUP)
        return refused(
          409,
          'DefaultGroup',
          'the group default exists from the start and cannot be deleted; put another policy instead',
        );
      if (known === null || before.body === null)
        return refused(404, 'GroupNotFound', `there is no declared group ${group}`);
      return write({ ...before, body: null, uncountedSince: before.slotless ? now : null }, [
        changed("policy deleted: default's holds now"),
        { kind: 'fill', group },
      ]);
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
      return write({ ...before, slots }, []);
    }
    case 'count':
      return before.memberCount === event.members ? unchanged : write({ ...before, memberCount: event.members }, []);
    case 'slotless':
      if (before.pausedBy !== null)
        return refused(409, 'GroupPaused', `group ${group} is paused by ${before.pausedBy}`);
      if (before.body !== null && groupPolicyOf(before.body).concurrency.kind !== 'unlimited') {
        return refused(409, 'NoSlot', `group ${group} has a limit again`);
      }
      return before.slotless ? unchanged : write({ ...before, slotless: true }, []);
    case 'settle':
    case 'recover':
    case 'recovered': {
      const moved = decideHome(before, event, now);
      return moved.kind === 'changed' ? write(moved.next, moved.facts) : moved;
    }
    case 'counted':
      return before.slotless || before.uncountedSince !== null
        ? write({ ...before, slotless: false, uncountedSince: null }, [])
        : unchanged;
    case 'limitless':
      // Default's policy was read before: an own limit that was put meanwhile is waited for.
      return before.uncountedSince === null || before.body !== null
        ? unchanged
        : write({ ...before, uncountedSince: null }, []);
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
  return write({ ...before, body, uncountedSince }, [
    changed(`policy set: ${JSON.stringify(body)}`),
    { kind: 'fill', group: before.group },
  ]);
}

function claim(
  before: GroupRecord,
  event: Extract<GroupEvent, { kind: 'claim' }>,
  now: Instant,
  write: Write,
): Outcome<GroupRecord> {
  const { group } = before;
  if (before.pausedBy !== null) return refused(409, 'GroupPaused', `group ${group} is paused by ${before.pausedBy}`);
  if (before.slots[event.nodeId] !== undefined)
    return refused(409, 'SlotTaken', `node ${event.nodeId} already has a slot in ${group}`);
  const settling = before.uncountedSince !== null && between(before.uncountedSince, now) < UNCOUNTED_SETTLE;
  const taken = Object.keys(before.slots).length + event.uncounted;
  if (settling || taken >= event.limit)
    return refused(409, 'NoSlot', `group ${group} has ${event.limit} slots and none is free`);
  return write({ ...before, slots: { ...before.slots, [event.nodeId]: { claimId: event.claimId, at: now } } }, []);
}

/**
 * When a group must be looked at again by itself: once nodes that started without a limit can have been counted. A
 * paused one starts nothing, and is looked at when it is resumed.
 */
export const groupDueAt = ({ uncountedSince, pausedBy }: GroupRecord): Instant | null =>
  uncountedSince === null || pausedBy !== null ? null : after(uncountedSince, UNCOUNTED_SETTLE);

export function describeGroup(own: GroupRecord, fallback: GroupRecord): GroupJson {
  const policy = policyInForce(own, fallback);
  const body = own.body ?? fallback.body ?? {};
  const limit = limitOf(policy.concurrency, own.memberCount);
  const underWay = Object.keys(own.slots).sort();
  const { deadlines } = policy;
  const text = (state: keyof typeof deadlines): string => formatDuration(deadlines[state]);
  const paused =
    own.pausedBy === null
      ? ''
      : ` Paused by ${own.pausedBy}: nothing starts and nothing goes on to its reboot until it is resumed.`;
  const declared = own.body === null ? ' Not declared: it has the policy of default.' : '';
  return {
    group: own.group,
    declared: own.body !== null,
    policy: {
      maxConcurrentUpdates: body.maxConcurrentUpdates ?? 1,
      backoff: body.backoff ?? { preset: 'seed' },
      deadlines: {
        Idle: text('Idle'),
        StagedUpdate: text('StagedUpdate'),
        PerformedUpdate: text('PerformedUpdate'),
        RebootedIntoUpdate: text('RebootedIntoUpdate'),
        MonitoringUpdate: text('MonitoringUpdate'),
      },
      monitor: {
        soak: formatDuration(policy.soak),
        checks: body.monitor?.checks ?? [],
        onFailure: body.monitor?.onFailure ?? 'rollback',
      },
      drain:
        body.drain === undefined
          ? null
          : {
              steps: body.drain.steps,
              timeout: formatDuration(drainTimeout(body.drain)),
              onTimeout: body.drain.onTimeout ?? 'abort',
            },
    },
    paused: own.pausedBy !== null,
    memberCount: own.memberCount,
    limit,
    underWay,
    explanation: `${limit === null ? 'No limit on concurrent updates' : `${underWay.length} of ${limit} slots in use`}.${paused}${declared}`,
  };
}
