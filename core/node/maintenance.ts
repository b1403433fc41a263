/** The node as the host of VMs: when its update disturbs them (DESIGN section 3 rule 10). */
import type { Fact } from '../decision/fact.ts';
import type { NodeRecord } from './record.ts';
import { blocksVersion } from './crash.ts';

/**
 * Whether the node is between a disruptive step and its end: MonitoringUpdate reached, or Idle after the ErrorReset of
 * such a step. A step that was withdrawn has ended, too; and after MonitoringUpdate only the way back disrupts again.
 */
export function inMaintenance(node: NodeRecord): boolean {
  const { removed, attempt, spec } = node;
  if (removed !== null || attempt === null) return false;
  switch (spec.state) {
    case 'RebootedIntoUpdate':
      return true;
    case 'MonitoringUpdate':
      // Another boot while it is watched stops no VM.
      return spec.reachedAt === null && attempt.watch?.passed !== true;
    case 'Idle':
      return (
        spec.reachedAt === null &&
        !attempt.succeeded &&
        (attempt.withdrawn === undefined ? disrupts(node) : attempt.disrupted === true)
      );
    case 'StagedUpdate':
    case 'PerformedUpdate':
      return false;
  }
}

/** Whether recovering from the last crash may reboot the node. */
function disrupts(node: NodeRecord): boolean {
  const { lastState, lastReason } = node.crash;
  if (lastState === 'MonitoringUpdate') return blocksVersion(node, lastReason ?? '');
  return lastState === 'RebootedIntoUpdate';
}

/** What the VMs of a node must hear of a decision about it. */
export function maintenanceFacts(before: NodeRecord, after: NodeRecord): Fact[] {
  const begins = inMaintenance(after);
  return begins === inMaintenance(before) ? [] : [{ kind: 'hostMaintenance', hostId: after.nodeId, begins }];
}

/** Whether VMs can be started on the node: it reports, and nobody has fenced or removed it. */
export const takesVms = (node: NodeRecord): boolean =>
  node.removed === null &&
  node.status !== null &&
  node.silentSince === null &&
  node.unreachableSince === null &&
  node.fencedAt === null;
