/** What the passing of time does to a node: deadlines, wakes that are repeated, and silence (DESIGN section 2). */
import { after, type Instant } from '../kit/time.ts';
import { advance, nextRepeat } from './advance.ts';
import { info } from './conclude.ts';
import { noticeLease } from './host-word.ts';
import { type NodeRecord, SILENT_AFTER, WITHDRAW_AFTER } from './record.ts';
import { isStopped, lastSign } from './signs.ts';
import { clearCrash, crash, endAttempt, moveSpec, type Step } from './spec.ts';

export function passTime(node: NodeRecord, now: Instant): Step {
  let step: Step = { node, facts: [] };
  const then = (change: (node: NodeRecord) => Step): void => {
    const next = change(step.node);
    step = { node: next.node, facts: [...step.facts, ...next.facts] };
  };
  then(tellAgain);
  then((n) => noticeLease(n, now));
  then((n) => resetRecord(n, now));
  // Of a machine that is off nothing is expected: no deadline, no wake, no silence (rule 9).
  if (isStopped(node)) return step;
  then((n) => passDeadline(n, now));
  then((n) => advance(n, true, now));
  then((n) => repeatWake(n, now));
  then((n) => noticeSilence(n, now));
  return step;
}

/** Once `resetAfter` has passed since the first crash the record is forgotten, whatever the node's state (rule 3). */
export function resetRecord(node: NodeRecord, now: Instant): Step {
  const { resetAt, count } = node.crash;
  if (resetAt === null || now < resetAt) return { node, facts: [] };
  return {
    node: clearCrash(node),
    facts: [info('Node Crash Record Reset', `${count} crashes forgotten: the time since the first one has passed`)],
  };
}

function passDeadline(node: NodeRecord, now: Instant): Step {
  const { spec } = node;
  if (spec.reachedAt !== null) return { node, facts: [] };
  if (spec.state === 'Idle') return passIdleDeadline(node, now);
  if (spec.acknowledgedAt === null) {
    if (now < after(spec.since, WITHDRAW_AFTER)) return { node, facts: [] };
    const moved = moveSpec(node, 'Idle', null, now);
    const ended = endAttempt(moved.node);
    return {
      node: { ...ended.node, unreachableSince: now },
      facts: [
        ...moved.facts,
        ...ended.facts,
        {
          kind: 'event',
          type: 'Node Unreachable',
          severity: 'warning',
          message: `${spec.state} was not picked up within 35 min and is withdrawn; nothing is counted`,
        },
      ],
    };
  }
  if (now < after(spec.acknowledgedAt, node.policy.deadlines[spec.state])) return { node, facts: [] };
  const failed = crash(node, 'DeadlinePassed', sayMissed(node), now);
  return { node: { ...failed.node, unreachableSince: now }, facts: failed.facts };
}

/** Somebody has to clear what blocks a drain, so it is named in the crash record, also once the node is silent. */
function sayMissed({ spec, status }: NodeRecord): string {
  const blockedBy = spec.state === 'RebootedIntoUpdate' ? (status?.drainBlockedBy ?? null) : null;
  return `${spec.state} was not reached within its deadline${blockedBy === null ? '' : `: its drain was blocked by ${blockedBy}`}`;
}

/** The Idle deadline never counts and never makes a new generation; it marks the node and wakes it again (rule 2). */
function passIdleDeadline(node: NodeRecord, now: Instant): Step {
  const { spec } = node;
  if (spec.acknowledgedAt === null || node.unreachableSince !== null || node.status === null)
    return { node, facts: [] };
  const overdue = after(spec.acknowledgedAt, node.policy.deadlines.Idle);
  if (now < overdue || node.status.reportedAt >= overdue) return { node, facts: [] };
  return {
    node: { ...node, unreachableSince: now, spec: { ...spec, nextWakeAt: now } },
    facts: [
      {
        kind: 'event',
        type: 'Node Unreachable',
        severity: 'warning',
        message: 'did not come back to Idle within its deadline; it is woken again and nothing is counted',
      },
    ],
  };
}

function repeatWake(node: NodeRecord, now: Instant): Step {
  const { spec } = node;
  if (spec.nextWakeAt === null || now < spec.nextWakeAt) return { node, facts: [] };
  return {
    node: { ...node, spec: { ...spec, ...nextRepeat(node, now) } },
    facts: [{ kind: 'wake', hostId: node.nodeId, action: 'DriveNode', generation: spec.generation, decided: false }],
  };
}

function noticeSilence(node: NodeRecord, now: Instant): Step {
  if (node.status === null || node.silentSince !== null) return { node, facts: [] };
  const last = lastSign(node) ?? node.status.reportedAt;
  if (now < after(last, SILENT_AFTER)) return { node, facts: [] };
  return {
    node: { ...node, silentSince: now, untold: node.untold ?? { kind: 'hostSilent', at: now } },
    facts: [
      { kind: 'event', type: 'Node Silent', severity: 'warning', message: 'has not reported for 60 min' },
      { kind: 'hostSilent', hostId: node.nodeId, at: now },
    ],
  };
}

/** Of a node that was removed only its VMs still wait for something. */
export function tellOfGone(node: NodeRecord, now: Instant): Step {
  const again = tellAgain(node);
  const unheard = noticeLease(again.node, now);
  return { node: unheard.node, facts: [...again.facts, ...unheard.facts] };
}

/** Whoever was to tell the VMs of this host died before all of them knew. */
function tellAgain(node: NodeRecord): Step {
  const { untold, nodeId } = node;
  return { node, facts: untold == null ? [] : [{ ...untold, hostId: nodeId }] };
}
