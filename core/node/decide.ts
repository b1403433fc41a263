/**
 * The decision about one node: state × event × now → state. Pure, total and deterministic; the same state always gives
 * the same answer, and what happened is returned as facts (DESIGN section 7).
 */
import { type Outcome, refused } from '../decision/fact.ts';
import { withBlockers } from './blockers.ts';
import { conclude } from './conclude.ts';
import type { NodeContext, NodeEvent } from './event.ts';
import { reconsider } from './go-on.ts';
import { declareVm } from './hosting.ts';
import { listen, passOn } from './host-word.ts';
import { machineGone, machineStarted, machineStopped } from './machine.ts';
import type { NodeRecord } from './record.ts';
import { decideReport } from './report.ts';
import { restoreNode } from './restore.ts';
import { start } from './start.ts';
import { passTime, tellOfGone } from './time.ts';
import { fence, hold, move, pin, release, remove, retry, told } from './verbs.ts';
import { wakeFailed } from './wakes.ts';

export function decideNode(node: NodeRecord | null, event: NodeEvent, context: NodeContext): Outcome<NodeRecord> {
  if (event.kind === 'report') return passOn(node, event.report, decideReport(node, event.report, context), context);
  // A host that was removed may still be fenced: its VMs wait for that.
  const late =
    event.kind === 'fence' ||
    event.kind === 'gone' ||
    event.kind === 'told' ||
    (event.kind === 'due' && (node?.untold != null || node?.leaseLookAt != null));
  if (node === null || (node.removed !== null && !late)) {
    return refused(
      404,
      'NodeNotFound',
      `there is no node ${context.nodeId}; a node enrols itself with its first report`,
    );
  }
  const { now } = context;
  switch (event.kind) {
    case 'due':
      return conclude(node, node.removed === null ? passTime(node, now) : tellOfGone(node, now), context);
    case 'listen':
      return listen(node, now);
    case 'declareVm':
      return declareVm(node, now);
    case 'start':
      return start(node, event, context);
    case 'proceed':
      return proceed(node, context);
    case 'retry':
      return retry(node, context);
    case 'hold':
      return hold(node, event, context);
    case 'release':
      return release(node, context);
    case 'fence':
      return fence(node, event.by, context);
    case 'told':
      return told(node, event.at);
    case 'stopped':
      return machineStopped(node, event.at, context);
    case 'running':
      return machineStarted(node, event.at, context);
    case 'gone':
      return machineGone(node, event.how, event.at, context);
    case 'restore':
      return restoreNode(node, event.at, context);
    case 'move':
      return move(node, event.group, context);
    case 'remove':
      return remove(node, event.reason, context);
    case 'wakeFailed':
      return wakeFailed(node, event.status, event.generation, context);
    case 'pin':
      return pin(node, event.pin, context);
    case 'disclaim':
      return node.attempt?.claimId === event.claimId
        ? refused(409, 'SlotInUse', `node ${node.nodeId} is under way with this slot`)
        : { kind: 'changed', next: { ...node, revision: node.revision + 1 }, facts: [] };
  }
}

function proceed(node: NodeRecord, context: NodeContext): Outcome<NodeRecord> {
  const { group, now, blockers } = context;
  const looked = withBlockers(node, blockers);
  return conclude(node, group === null ? { node: looked, facts: [] } : reconsider(looked, group, now), context);
}
