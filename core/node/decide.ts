/**
 * The decision about one node: state × event × now → state. Pure, total and deterministic; the same state always gives
 * the same answer, and what happened is returned as facts (DESIGN section 7).
 */
import type { NodeReport } from '../contract/agent-bodies.ts';
import { type Fact, type Outcome, refused, unchanged } from '../decision/fact.ts';
import { advance } from './advance.ts';
import { conclude, info } from './conclude.ts';
import { enrol, newerThanTombstone } from './enrol.ts';
import type { NodeContext, NodeEvent } from './event.ts';
import { machineGone, machineStarted, machineStopped } from './machine.ts';
import { generationFloor } from './floor.ts';
import { withBlockers } from './maintenance.ts';
import type { NodeRecord } from './record.ts';
import { greet, recoverNode } from './recover.ts';
import { acknowledge, heard, judge, observe, outOfOrder, spoil } from './report.ts';
import { sentBeforeStop } from './signs.ts';
import { listen, passOn } from './host-word.ts';
import { passTime, resetRecord, tellOfGone } from './time.ts';
import { fence, hold, move, release, remove, retry, start, told, wakeFailed } from './verbs.ts';

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
    case 'start':
      return start(node, event, context);
    case 'proceed':
      return conclude(node, advance(withBlockers(node, context), context.group?.paused ?? true, now), context);
    case 'retry':
      return retry(node, context);
    case 'hold':
      return hold(node, event.by, context);
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
    case 'recover':
      return recoverNode(node, event.at, context);
    case 'move':
      return move(node, event.group, context);
    case 'remove':
      return remove(node, event.reason, context);
    case 'wakeFailed':
      return wakeFailed(node, event.status, event.generation, context);
    case 'disclaim':
      return node.attempt?.claimId === event.claimId
        ? refused(409, 'SlotInUse', `node ${node.nodeId} is under way with this slot`)
        : { kind: 'changed', next: { ...node, revision: node.revision + 1 }, facts: [] };
  }
}

function decideReport(known: NodeRecord | null, report: NodeReport, context: NodeContext): Outcome<NodeRecord> {
  const { now, group, recoveredAt } = context;
  const floor = recoveredAt == null ? 1 : generationFloor(recoveredAt);
  const ours = known?.removed === null ? known.spec.generation : Math.max(known?.spec.generation ?? 1, floor);
  if (report.generation !== undefined && report.generation > ours) {
    return refused(
      409,
      'GenerationAhead',
      `the report names generation ${report.generation}, ours is ${known === null ? 'none: this node is not enrolled' : ours}; the control plane may have been restored from an older copy`,
    );
  }
  if (known !== null && (outOfOrder(known, report, now) || sentBeforeStop(known, report.bootId, now))) return unchanged;
  if (known?.removed != null && !newerThanTombstone(known, report)) return unchanged;
  const enrolling = known === null || known.removed !== null;
  const greeted = greet(enrolling ? enrol(known, report, context) : known, now);
  const { node } = greeted;
  const facts: Fact[] = enrolling
    ? [
        { kind: 'enrolled', group: node.group },
        info('Node Enrolled', `first report: ${report.currentVersion} in group ${node.group}`),
      ]
    : [];
  facts.push(...greeted.facts);
  if (!enrolling && report.generation !== undefined && report.generation < node.spec.generation) {
    const seen = acknowledge(spoiled(heard(node, now), report), now);
    return seen === known ? unchanged : conclude(node, { node: seen, facts }, context);
  }
  const reset = resetRecord(node, now);
  const observed = withBlockers(observe(reset.node, report, now), context);
  const judged = judge(observed, report, group?.paused ?? false, now);
  const answered = acknowledge(judged.node, now);
  const outcome = conclude(
    node,
    { node: answered, facts: [...facts, ...reset.facts, ...checkFailure(node, answered), ...judged.facts] },
    context,
  );
  return outcome.kind === 'unchanged' && enrolling ? { kind: 'changed', next: node, facts } : outcome;
}

/** A check that failed while the soak time was running out, reported after the spec had moved on. */
function spoiled(node: NodeRecord, report: NodeReport): NodeRecord {
  const { attempt, spec } = node;
  const late = report.state === 'ErrorReset' && report.generation === spec.generation - 1;
  if (!late || spec.state !== 'Idle' || attempt?.succeeded !== true) return node;
  return spoil(node, attempt, report);
}

function checkFailure(before: NodeRecord, now: NodeRecord): Fact[] {
  const check = now.status?.updateCheck;
  if (check?.result !== 'Failed' || before.status?.updateCheck.result === 'Failed') return [];
  return [
    {
      kind: 'event',
      type: 'Node Update Check Failed',
      severity: 'warning',
      message: `update check failed: ${check.message ?? 'no message'}`,
    },
  ];
}
