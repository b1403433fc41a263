/** How a node's spec moves, and how an attempt ends. Each function takes a node and returns a new one. */
import type { SpecState } from '../contract/words.ts';
import { type Fact, info } from '../decision/fact.ts';
import { after, type Instant } from '../kit/time.ts';
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
 * An attempt is given up and nothing is counted: the spec is Idle, the agent undoes what it prepared, and the slot is
 * freed once the node reports Idle (DESIGN section 2b).
 */
export function withdraw(node: NodeRecord, why: string, now: Instant): Step {
  const { attempt, spec } = node;
  if (attempt === null || spec.state === 'Idle') return { node, facts: [] };
  const moved = moveSpec(node, 'Idle', null, now);
  const disrupted = spec.state === 'RebootedIntoUpdate' ? { disrupted: true as const } : {};
  return {
    node: { ...moved.node, attempt: { ...attempt, letOnAt: null, succeeded: false, withdrawn: why, ...disrupted } },
    facts: [...moved.facts, info('Node Update Withdrawn', `${spec.state} is withdrawn, nothing is counted: ${why}`)],
  };
}

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
export const clearCrash = ({ blockedAt: _ended, ...node }: NodeRecord): NodeRecord => ({
  ...node,
  crash: NO_CRASH,
  blockedVersions: [],
});
