/** The node as the host of VMs: when its update disturbs them, and which of them keep it from rebooting (DESIGN section 3 rule 10). */
import type { Fact } from '../decision/fact.ts';
import type { NodeContext } from './event.ts';
import type { NodeRecord } from './record.ts';
import { blocksVersion } from './spec.ts';

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
      return spec.reachedAt === null;
    case 'Idle':
      return spec.reachedAt === null && !attempt.succeeded && disrupts(node);
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

/** The VMs that keep the node from rebooting, as they were when it was last looked at. */
export const blockersOf = ({ vmBlockers }: NodeRecord): readonly string[] => vmBlockers ?? [];

/** Keeps what the shell has found out about the VMs of the node; the same node when it is nothing new. */
export function withBlockers(node: NodeRecord, { blockers }: NodeContext): NodeRecord {
  if (blockers === undefined || blockers.join() === blockersOf(node).join()) return node;
  return { ...node, vmBlockers: [...blockers] };
}

/** `VM a keeps it` or `VMs a, b and 3 more keep it`. */
export function sayBlockers(blockers: readonly string[]): string {
  const named = blockers.slice(0, NAMED_MAX).join(', ');
  const more = blockers.length > NAMED_MAX ? ` and ${blockers.length - NAMED_MAX} more` : '';
  return blockers.length === 1 ? `VM ${named} keeps it` : `VMs ${named}${more} keep it`;
}
const NAMED_MAX = 5;

/** Whether VMs can be started on the node: it reports, and nobody has fenced or removed it. */
export const takesVms = (node: NodeRecord): boolean =>
  node.removed === null &&
  node.status !== null &&
  node.silentSince === null &&
  node.unreachableSince === null &&
  node.fencedAt === null;
