/** The passing of time: deadlines, what is forgotten, wakes that are repeated, and silence (DESIGN section 2). */
import { info } from '../decision/fact.ts';
import { after, type Instant } from '../kit/time.ts';
import { dropEnded } from './blocks.ts';
import { fellBack } from './boots.ts';
import { crash } from './crash.ts';
import { stepDue } from './deadline.ts';
import { givenUp } from './given-up.ts';
import { noticeLease } from './host-word.ts';
import { type NodeRecord, SILENT_AFTER } from './record.ts';
import { isStopped, lastSign } from './signs.ts';
import { clearCrash, endAttempt, moveSpec, type Step } from './spec.ts';
import { lookLater } from './timing.ts';
import { repeatWake } from './wakes.ts';

export function passTime(node: NodeRecord, now: Instant): Step {
  let step: Step = { node, facts: [] };
  const then = (change: (node: NodeRecord) => Step): void => {
    const next = change(step.node);
    step = { node: next.node, facts: [...step.facts, ...next.facts] };
  };
  then(tellAgain);
  then((n) => noticeLease(n, now));
  then((n) => resetRecord(n, now));
  then((n) => dropRefusal(n, now));
  // Of a machine that is off nothing is expected: no deadline, no wake, no silence (rule 9).
  if (isStopped(node)) return step;
  then((n) => passDeadline(n, now));
  then((n) => repeatWake(n, now));
  then((n) => noticeSilence(n, now));
  then((n) => ({ node: lookLater(n, now), facts: [] }));
  return step;
}

/**
 * Once `resetAfter` has passed since the first crash the record is forgotten, whatever the node's state, unless it has
 * been given up (rule 3). A block has an end of its own.
 */
export function resetRecord(node: NodeRecord, now: Instant): Step {
  const { resetAt, count } = node.crash;
  if (resetAt === null || now < resetAt || givenUp(node, node.policy.backoff))
    return { node: dropEnded(node, now), facts: [] };
  return {
    node: clearCrash(node),
    facts: [info('Node Crash Record Reset', `${count} crashes forgotten: the time since the first one has passed`)],
  };
}

/** What was refused may be tried again. */
function dropRefusal(node: NodeRecord, now: Instant): Step {
  const { refusedOffer } = node;
  if (refusedOffer == null || now < refusedOffer.until) return { node, facts: [] };
  return { node: { ...node, refusedOffer: null }, facts: [{ kind: 'fill', group: node.group }] };
}

function passDeadline(node: NodeRecord, now: Instant): Step {
  const due = stepDue(node);
  if (due === null || now < due.at) return { node, facts: [] };
  switch (due.kind) {
    case 'crash':
      return failStep(node, now);
    case 'withdrawal':
      return giveUpUnheard(node, now);
    case 'mark':
      return markOverdue(node, now);
  }
}

/** What was seen of the node meanwhile says why, even where the report itself could fail nothing. */
function failStep(node: NodeRecord, now: Instant): Step {
  const back = node.status === null ? null : fellBack(node, node.status);
  const failure =
    back === null ? { reason: 'DeadlinePassed', message: sayMissed(node) } : { reason: 'RolledBack', message: back };
  const failed = crash(node, failure, now);
  return { node: { ...failed.node, unreachableSince: now }, facts: failed.facts };
}

/** Nobody has acknowledged the step: it is given up, its slot is freed at once, and nothing is counted (rule 2). */
function giveUpUnheard(node: NodeRecord, now: Instant): Step {
  const { state } = node.spec;
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
        message: `${state} was not picked up within 35 min and is withdrawn; nothing is counted`,
      },
    ],
  };
}

/** Somebody has to clear what blocks a drain, so it is named in the crash record, also once the node is silent. */
function sayMissed({ spec, status }: NodeRecord): string {
  if (spec.state === 'MonitoringUpdate' && spec.reachedAt !== null)
    return 'the report that ends the soak time did not come';
  const blockedBy = spec.state === 'RebootedIntoUpdate' ? (status?.drainBlockedBy ?? null) : null;
  return `${spec.state} was not reached within its deadline${blockedBy === null ? '' : `: its drain was blocked by ${blockedBy}`}`;
}

/** The Idle deadline never counts and never makes a new generation; it marks the node and wakes it again (rule 2). */
function markOverdue(node: NodeRecord, now: Instant): Step {
  return {
    node: { ...node, unreachableSince: now, spec: { ...node.spec, nextWakeAt: now } },
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

function noticeSilence(node: NodeRecord, now: Instant): Step {
  if (node.status === null || node.silentSince !== null) return { node, facts: [] };
  const last = lastSign(node) ?? node.status.reportedAt;
  if (now < after(last, SILENT_AFTER)) return { node, facts: [] };
  return {
    node: { ...node, silentSince: now, untold: node.untold ?? { kind: 'hostSilent', at: now } },
    facts: [
      { kind: 'event', type: 'Node Silent', severity: 'warning', message: 'has not reported for 90 min' },
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
