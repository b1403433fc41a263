/** What a node is told in the answer to its report (DESIGN section 6). */
import type { DesiredNode } from '../contract/agent-answers.ts';
import { monitorPlanOf } from '../policy/monitor.ts';
import type { NodeRecord } from './record.ts';

/**
 * The spec, and of the policy what the step needs: how to drain before the reboot, and also with Idle, where an agent
 * that lost its record looks for what it had drained (G9); what to check in MonitoringUpdate, and how long it may fail.
 */
export function desiredOf({ spec, policy }: NodeRecord): DesiredNode {
  const { state, version, generation } = spec;
  const drains = state === 'RebootedIntoUpdate' || state === 'Idle';
  return {
    state,
    version,
    generation,
    ...(policy.drain === undefined || !drains ? {} : { drain: policy.drain }),
    ...(policy.monitor === undefined || state !== 'MonitoringUpdate'
      ? {}
      : { monitor: monitorPlanOf(policy.monitor, policy.deadlines.MonitoringUpdate) }),
  };
}
