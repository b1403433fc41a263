/** What follows once status has reached the spec, and what the passing of time does. */
import type { Fact } from '../decision/fact.ts';
import { after, type Instant } from '../kit/time.ts';
import { blockersOf } from './maintenance.ts';
import { queueKey, readiness } from './readiness.ts';
import { type NodeRecord, RECOVERY_WAKE_EVERY, WAKE_REPEATS } from './record.ts';
import { clearCrash, endAttempt, moveSpec, NEXT_STATE, type Step } from './spec.ts';

/**
 * Moves the spec on if it has been reached and nothing holds it. A hold, a pause or a VM that blocks stops a node only
 * before its disruptive step, RebootedIntoUpdate (rule 6, and section 3 rule 10).
 */
export function advance(node: NodeRecord, paused: boolean, now: Instant): Step {
  const { spec, attempt } = node;
  if (spec.reachedAt === null || attempt === null || spec.state === 'Idle') return { node, facts: [] };
  if (spec.state === 'MonitoringUpdate' && now < after(spec.reachedAt, node.policy.soak)) return { node, facts: [] };
  const next = NEXT_STATE[spec.state];
  const held = node.heldBy !== null || paused || blockersOf(node).length > 0;
  if (next === 'RebootedIntoUpdate' && held) return { node, facts: [] };
  const moved = moveSpec(node, next, next === 'Idle' ? null : spec.version, now);
  const { status } = node;
  const reboots = next === 'RebootedIntoUpdate' && status !== null && status.currentVersion === attempt.fromVersion;
  return {
    node: {
      ...moved.node,
      attempt: {
        ...attempt,
        fromBootId: reboots ? status.bootId : attempt.fromBootId,
        succeeded: next === 'Idle',
      },
    },
    facts: [
      ...moved.facts,
      {
        kind: 'event',
        type: 'Node Update Step',
        severity: 'info',
        message: `${spec.state} reached; now ${next}`,
      },
    ],
  };
}

/** Status has reached Idle: the attempt ends, its slot is freed, and after a success the crash record is cleared. */
export function reachIdle(node: NodeRecord, now: Instant): Step {
  const reached: NodeRecord = { ...node, spec: { ...node.spec, reachedAt: now, nextWakeAt: null } };
  const { attempt } = node;
  if (attempt === null) return { node: reached, facts: [] };
  const ended = endAttempt(reached);
  if (attempt.succeeded) {
    const event: Fact = {
      kind: 'event',
      type: 'Node Updated',
      severity: 'info',
      message: `updated from ${attempt.fromVersion} to ${node.status?.currentVersion ?? 'unknown'}`,
    };
    return { node: clearCrash(ended.node), facts: [...ended.facts, event] };
  }
  return {
    node: ended.node,
    facts: [
      ...ended.facts,
      {
        kind: 'event',
        type: 'Node Recovered',
        severity: 'info',
        message: `Idle again after crash ${node.crash.count}`,
      },
    ],
  };
}

/** Recomputes whether the node waits for a slot; becoming ready, or moving up in the queue, asks for a fill. */
export function settle(before: NodeRecord, node: NodeRecord, now: Instant): Step {
  const ready = readiness(node, now).kind === 'ready';
  const waitingSince = ready ? (node.waitingSince ?? now) : null;
  const settled = waitingSince === node.waitingSince ? node : { ...node, waitingSince };
  const key = queueKey(settled);
  const asks = key !== null && queueKey(before) !== key;
  return { node: settled, facts: asks ? [{ kind: 'fill', group: node.group }] : [] };
}

/** When the wake after the one just sent is due. */
export function nextRepeat(node: NodeRecord, now: Instant): { nextWakeAt: Instant | null; wakesRepeated: number } {
  const { spec } = node;
  const wakesRepeated = spec.wakesRepeated + 1;
  const wait = WAKE_REPEATS[wakesRepeated];
  if (wait !== undefined && after(spec.since, wait) > now)
    return { nextWakeAt: after(spec.since, wait), wakesRepeated };
  if (wait !== undefined) return nextRepeat({ ...node, spec: { ...spec, wakesRepeated } }, now);
  return { nextWakeAt: spec.state === 'Idle' ? after(now, RECOVERY_WAKE_EVERY) : null, wakesRepeated };
}
