/** What a node is told in the answer to its report (DESIGN section 6). */
import type { DesiredNode } from '../contract/agent-answers.ts';
import { between, type Instant } from '../kit/time.ts';
import { monitorPlanOf } from '../policy/monitor.ts';
import { remainingSeconds } from './deadline.ts';
import type { NodeRecord } from './record.ts';

/** A host that hears of its reboot later than this, counted from the sending of its report, does not begin. */
const BEGIN_WITHIN_SECONDS = 120;

/**
 * The spec, and of the policy what the step needs: how long it may take, how to drain before the reboot (also with Idle,
 * where an agent that lost its record looks for what it had drained, G9), and what to check in MonitoringUpdate.
 */
export function desiredOf(node: NodeRecord, now: Instant): DesiredNode {
  const { spec, policy } = node;
  const { state, version, generation } = spec;
  const drains = state === 'RebootedIntoUpdate' || state === 'Idle';
  const watched = state === 'MonitoringUpdate';
  const withinSeconds = remainingSeconds(node, now);
  return {
    state,
    version,
    generation,
    ...(policy.drain === undefined || !drains ? {} : { drain: policy.drain }),
    ...(policy.monitor === undefined || !watched
      ? {}
      : { monitor: monitorPlanOf(policy.monitor, policy.deadlines.MonitoringUpdate) }),
    ...(policy.pin === undefined ? {} : { pin: policy.pin }),
    ...(withinSeconds === null ? {} : { withinSeconds }),
    ...(watched ? { soakSeconds: policy.soak / 1000 } : {}),
    ...(state === 'RebootedIntoUpdate' ? { beginWithinSeconds: beginWithinSeconds(node, now) } : {}),
  };
}

function beginWithinSeconds({ spec }: NodeRecord, now: Instant): number {
  if (spec.beginsUntil === undefined) return BEGIN_WITHIN_SECONDS;
  return Math.max(0, Math.min(BEGIN_WITHIN_SECONDS, between(now, spec.beginsUntil) / 1000));
}

/** Idle, or waiting staged, slot or not: it reports rarely (DESIGN section 6). */
export function isQuiet({ spec, status, attempt, removed }: NodeRecord): boolean {
  if (removed !== null) return true;
  if (spec.state === 'StagedUpdate') return spec.reachedAt !== null && attempt?.letOnAt == null;
  return spec.state === 'Idle' && spec.reachedAt !== null && attempt === null && status?.state === 'Idle';
}
