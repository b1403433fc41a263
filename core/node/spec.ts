/** How a node's spec moves, and what a crash does to it. Each function takes a node and returns a new one. */
import { nodeResetAt, nodeRetryAfter } from '../policy/backoff.ts';
import type { SpecState } from '../contract/words.ts';
import type { Fact } from '../decision/fact.ts';
import { HEALTH_CHECK_FAILED } from '../policy/monitor.ts';
import { after, type Instant, sayDuration, between } from '../kit/time.ts';
import { NO_CRASH, type NodeRecord, type NodeSpec, WAKE_REPEATS } from './record.ts';

export type Step = { node: NodeRecord; facts: Fact[] };

/** The spec that follows each one on the way (DESIGN section 2, G7). */
export const NEXT_STATE: Readonly<Record<SpecState, SpecState>> = {
  Idle: 'StagedUpdate',
  StagedUpdate: 'PerformedUpdate',
  PerformedUpdate: 'RebootedIntoUpdate',
  RebootedIntoUpdate: 'MonitoringUpdate',
  MonitoringUpdate: 'Idle',
};

/** A new generation of the spec, and the one wake that is decided for it. */
export function moveSpec(node: NodeRecord, state: SpecState, version: string | null, now: Instant): Step {
  const spec: NodeSpec = {
    state,
    version,
    generation: node.spec.generation + 1,
    since: now,
    acknowledgedAt: null,
    reachedAt: null,
    nextWakeAt: firstRepeat(now),
    wakesRepeated: 0,
  };
  return {
    node: { ...node, spec, wakeFailure: null },
    facts: [{ kind: 'wake', hostId: node.nodeId, action: 'DriveNode', generation: spec.generation, decided: true }],
  };
}

const firstRepeat = (now: Instant): Instant => after(now, WAKE_REPEATS[0]);

/**
 * ErrorReset, a passed deadline, or a rollback: spec becomes Idle, the crash is recorded; the slot stays with the
 * node until it is Idle again, except when its drain was blocked (rules 2, 4 and 5).
 */
export function crash(node: NodeRecord, reason: string, message: string | null, now: Instant): Step {
  const failed = node.spec.state;
  const count = node.crash.count + 1;
  const firstAt = node.crash.firstAt ?? now;
  const retryAfter = nodeRetryAfter(node.policy.backoff, count, firstAt, now);
  const target = node.spec.version ?? node.attempt?.version ?? null;
  const moved = moveSpec(node, 'Idle', null, now);
  const facts: Fact[] = [
    ...moved.facts,
    { kind: 'metric', name: 'NodeCrash', group: node.group, value: 1 },
    {
      kind: 'event',
      type: 'Node Crashed',
      severity: 'warning',
      message: `failed to reach ${failed}: ${reason}${message === null ? '' : `: ${message}`}; crash ${count}, recovering to Idle, next attempt not before ${sayWait(retryAfter, now)}`,
    },
  ];
  const gaveUp = reason === 'DrainBlocked' ? giveUpSlot(moved.node) : { node: moved.node, facts: [] };
  const { attempt } = gaveUp.node;
  const kept = blocksVersion(node, reason) ? block(gaveUp.node, target) : gaveUp.node;
  return {
    node: {
      ...kept,
      attempt: attempt === null ? null : { ...attempt, succeeded: false },
      crash: {
        count,
        firstAt,
        lastAt: now,
        retryAfter,
        resetAt: nodeResetAt(node.policy.backoff, firstAt),
        lastState: failed,
        lastReason: reason,
        lastMessage: message,
      },
    },
    facts: [...facts, ...gaveUp.facts],
  };
}

/** The node is on its old version again, or on its way there: what took it away is not tried again at once (rule 5). */
export const blocksVersion = ({ policy }: NodeRecord, reason: string): boolean =>
  reason === 'RolledBack' || (reason === HEALTH_CHECK_FAILED && policy.monitor?.onFailure !== 'report');

export const block = (node: NodeRecord, version: string | null): NodeRecord =>
  version === null || node.blockedVersions.includes(version)
    ? node
    : { ...node, blockedVersions: [...node.blockedVersions, version] };

const sayWait = (until: Instant, now: Instant): string =>
  until <= now ? 'it is Idle' : `${sayDuration(between(now, until))} from now`;

/** The attempt goes on without a slot (or ends): the slot is freed and the group may fill it. */
export function giveUpSlot(node: NodeRecord): Step {
  const { attempt } = node;
  if (attempt === null) return { node, facts: [] };
  if (attempt.claimId === null) return { node: { ...node, attempt: { ...attempt, unlimited: false } }, facts: [] };
  return {
    node: { ...node, attempt: { ...attempt, claimId: null } },
    facts: [{ kind: 'slotReleased', group: node.group, claimId: attempt.claimId }],
  };
}

/** Ends the attempt, freeing its slot. */
export function endAttempt(node: NodeRecord): Step {
  const freed = giveUpSlot(node);
  if (freed.node.attempt === null) return freed;
  const facts: Fact[] = freed.facts.length > 0 ? freed.facts : [{ kind: 'fill', group: node.group }];
  return { node: { ...freed.node, attempt: null }, facts };
}

/** Forgets the crash record and the versions it blocked: only on Idle after success, and after `resetAfter`. */
export const clearCrash = (node: NodeRecord): NodeRecord => ({ ...node, crash: NO_CRASH, blockedVersions: [] });
