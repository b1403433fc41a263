/** What can happen to a node, and what deciding on it needs to know. */
import type { NodeReport } from '../contract/agent-bodies.ts';
import type { GroupId, NodeId } from '../kit/ids.ts';
import type { GroupPolicy } from '../policy/group-policy.ts';
import type { Instant } from '../kit/time.ts';
import type { Gone, NodeRecord } from './record.ts';

/** What a node's decision needs to know of its group. */
export type GroupView = { policy: GroupPolicy; paused: boolean };

export type NodeEvent =
  | { kind: 'report'; report: NodeReport }
  /** A timer fired, or the sweep found the node overdue. */
  | { kind: 'due' }
  /** The group gives the node a slot (null: the group has no limit); `told` when this is the answer to its own report. */
  | { kind: 'start'; claim: { claimId: string; at: Instant } | null; told: boolean }
  /** The group was resumed: go on if you were held before the disruptive step. */
  | { kind: 'proceed' }
  | { kind: 'retry' }
  | { kind: 'hold'; by: string }
  | { kind: 'release' }
  | { kind: 'fence'; by: string }
  /** A VM of this host waits for its next report. */
  | { kind: 'listen' }
  /** All VMs of the host have been told what became of it at that instant. */
  | { kind: 'told'; at: Instant }
  | { kind: 'move'; group: GroupId }
  /** EC2 says so, of an instant. */
  | { kind: 'stopped' | 'running'; at: Instant }
  | { kind: 'gone'; how: Gone; at: Instant }
  /** The table was restored; `at` names the recovery. */
  | { kind: 'recover'; at: Instant }
  | { kind: 'remove'; reason: string }
  /** A wake ended badly: no crash, but the next repeat comes forward (DESIGN section 5). */
  | { kind: 'wakeFailed'; status: string; generation: number | null }
  /** The sweep asks whether an old slot is still this node's; a change of revision shuts out a late start. */
  | { kind: 'disclaim'; claimId: string };

export type NodeContext = {
  nodeId: NodeId;
  now: Instant;
  group: GroupView | null;
  /** The last recovery of this deployment, known when a node enrols; its generations begin above the floor. */
  recoveredAt?: Instant | null;
  /** VMs that keep the node from rebooting, where the decision asks for them (`needsBlockers`). */
  blockers?: readonly string[];
};

/** Whether deciding on this event may send the node into its reboot: then its VMs are looked at. */
export function needsBlockers(node: NodeRecord | null, event: NodeEvent): boolean {
  if (node === null || node.removed !== null || node.spec.state !== 'PerformedUpdate') return false;
  return needsGroup(node, event);
}

/** Whether deciding on this event needs the group's pause and policy; a report that changes nothing never does. */
export function needsGroup(node: NodeRecord | null, event: NodeEvent): boolean {
  if (node === null || node.removed !== null) return event.kind === 'report';
  switch (event.kind) {
    case 'start':
    case 'proceed':
    case 'release':
    case 'move':
      return true;
    case 'report':
      return (
        node.spec.state === 'PerformedUpdate' &&
        event.report.state === 'PerformedUpdate' &&
        event.report.generation === node.spec.generation
      );
    case 'due':
    case 'listen':
    case 'retry':
    case 'hold':
    case 'fence':
    case 'told':
    case 'stopped':
    case 'running':
    case 'gone':
    case 'recover':
    case 'remove':
    case 'wakeFailed':
    case 'disclaim':
      return false;
  }
}
