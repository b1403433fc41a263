/** What can happen to a node, and what deciding on it needs to know. */
import type { NodeReport } from '../contract/agent-bodies.ts';
import type { GroupId, NodeId } from '../kit/ids.ts';
import type { GroupView } from '../group/view.ts';
import type { Instant } from '../kit/time.ts';
import { type Gone, type NodeRecord, waitsStaged } from './record.ts';

export type NodeEvent =
  | { kind: 'report'; report: NodeReport }
  /** A timer fired, or the sweep found the node overdue. */
  | { kind: 'due' }
  /** The group gives the node a slot (null: the group has no limit); `told` when this is the answer to its own report. */
  | { kind: 'start'; claim: { claimId: string; at: Instant } | null; told: boolean }
  /** A gate may have opened, or closed: a staged node goes on, an activated one is withdrawn. */
  | { kind: 'proceed' }
  | { kind: 'retry' }
  /** With `withdraw` what is staged or activated is given up, too. */
  | { kind: 'hold'; by: string; withdraw?: boolean }
  | { kind: 'release' }
  | { kind: 'fence'; by: string }
  /** A VM of this host waits for its next report. */
  | { kind: 'listen' }
  /** A VM is about to be declared on this host, or to move there. */
  | { kind: 'declareVm' }
  /** All VMs of the host have been told what became of it at that instant. */
  | { kind: 'told'; at: Instant }
  | { kind: 'move'; group: GroupId }
  /** EC2 says so, of an instant. */
  | { kind: 'stopped' | 'running'; at: Instant }
  | { kind: 'gone'; how: Gone; at: Instant }
  /** The table was restored; `at` names the recovery. */
  | { kind: 'restore'; at: Instant }
  | { kind: 'remove'; reason: string }
  /** A wake ended badly: no crash, but the next repeat comes forward (DESIGN section 5). */
  | { kind: 'wakeFailed'; status: string; generation: number | null }
  /** The version that its group is pinned to has changed; null: to none. */
  | { kind: 'pin'; pin: string | null }
  /** The sweep asks whether an old slot is still this node's; a change of revision shuts out a late start. */
  | { kind: 'disclaim'; claimId: string };

export type NodeContext = {
  nodeId: NodeId;
  now: Instant;
  group: GroupView | null;
  /** The last recovery of this deployment, known when a node enrols; its generations begin above the floor. */
  recoveredAt?: Instant | null;
  /** Whether the index has VMs of the node, where it was asked; absent: it was not, or did not answer. */
  hasVms?: boolean;
  /** VMs that keep the node from rebooting, where the decision asks for them (`needsBlockers`). */
  blockers?: readonly string[];
};

/** Whether deciding on this event may bring the node nearer to its reboot: then its VMs are looked at. */
export function needsBlockers(node: NodeRecord | null, event: NodeEvent): boolean {
  if (node === null || node.removed !== null) return false;
  if (event.kind === 'start') return waitsStaged(node);
  const nearing = node.spec.state === 'StagedUpdate' || node.spec.state === 'PerformedUpdate';
  return (nearing || event.kind === 'report') && event.kind !== 'move' && needsGroup(node, event);
}

/** Whether deciding on this event needs the group's policy and pause; a report that changes nothing never does. */
export function needsGroup(node: NodeRecord | null, event: NodeEvent): boolean {
  if (node === null || node.removed !== null) return event.kind === 'report';
  switch (event.kind) {
    case 'start':
    case 'proceed':
    case 'release':
    case 'move':
      return true;
    case 'report':
      return event.report.generation === node.spec.generation && meetsGates(node, event.report);
    case 'due':
    case 'listen':
    case 'declareVm':
    case 'retry':
    case 'hold':
    case 'fence':
    case 'told':
    case 'stopped':
    case 'running':
    case 'gone':
    case 'restore':
    case 'remove':
    case 'wakeFailed':
    case 'pin':
    case 'disclaim':
      return false;
  }
}

/** Reports after which the gates are asked: staged, activated, or told to reboot too late to begin. */
function meetsGates({ spec }: NodeRecord, { state, notBegun }: NodeReport): boolean {
  if (spec.state === 'RebootedIntoUpdate') return state === 'PerformedUpdate' && notBegun === true;
  return state === spec.state && (state === 'StagedUpdate' || state === 'PerformedUpdate');
}
