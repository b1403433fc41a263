/**
 * What AWS says of the machine itself: EC2 stopped, started or terminated it, SSM deregistered it, or nobody has known it
 * for a day (DESIGN section 2 rule 9, section 3 rule 6). These events are best effort, come twice and out of order, and
 * name whole seconds: each is judged by its own time against what the node has reported since.
 */
import { info, type Outcome, unchanged } from '../decision/fact.ts';
import { after, formatInstant, hours, type Instant, minutes } from '../kit/time.ts';
import { conclude } from './conclude.ts';
import type { NodeContext } from './event.ts';
import type { Gone, NodeRecord } from './record.ts';
import { EVENT_SLACK, isStopped, lastSign } from './signs.ts';
import { endAttempt, moveSpec } from './spec.ts';

/** Silent for so long and unknown to SSM: gone (DESIGN section 2 rule 9). */
export const LOST_AFTER = hours(24);

/** An event that a later one, or a report made after it, has overtaken. */
const overtaken = ({ machine, status }: NodeRecord, at: Instant): boolean =>
  (machine != null && machine.at >= at) || (status !== null && status.reportedAt > after(at, EVENT_SLACK));

/**
 * The host is off, so what ran there has ended; the node stays enrolled. A step under way is withdrawn: its slot is freed,
 * nothing is counted, and the next report is answered with Idle, from where the agent undoes what it had done.
 */
export function machineStopped(node: NodeRecord, at: Instant, context: NodeContext): Outcome<NodeRecord> {
  if (overtaken(node, at)) return unchanged;
  const withdrawn = node.spec.state === 'Idle' ? node : moveSpec(node, 'Idle', null, context.now).node;
  const ended = endAttempt(withdrawn);
  const step = node.spec.state === 'Idle' ? '' : `; ${node.spec.state} is withdrawn and nothing is counted`;
  return conclude(
    node,
    {
      node: {
        ...ended.node,
        spec: { ...ended.node.spec, nextWakeAt: null },
        machine: { state: 'stopped', at },
        fencedAt: context.now,
        untold: { kind: 'hostFenced', at: context.now, asOf: at },
        unreachableSince: null,
        silentSince: null,
        wakeFailure: null,
      },
      facts: [
        ...ended.facts,
        {
          kind: 'event',
          type: 'Node Stopped',
          severity: 'warning',
          message: `EC2 stopped it at ${formatInstant(at)}: its instances have ended${step}`,
        },
        { kind: 'hostFenced', hostId: node.nodeId, at: context.now, asOf: at },
      ],
    },
    context,
  );
}

/** The machine runs again: from now on its silence counts, and a step it owes is asked for again. */
export function machineStarted(node: NodeRecord, at: Instant, context: NodeContext): Outcome<NodeRecord> {
  if (overtaken(node, at)) return unchanged;
  const nextWakeAt = node.spec.reachedAt === null ? after(context.now, minutes(1)) : node.spec.nextWakeAt;
  const facts = isStopped(node) ? [info('Node Started', `EC2 started it at ${formatInstant(at)}`)] : [];
  const started: NodeRecord = { ...node, machine: { state: 'running', at } };
  const next = isStopped(node) ? { ...started, spec: { ...node.spec, nextWakeAt } } : started;
  return conclude(node, { node: next, facts }, context);
}

/** Silent for a day: whether SSM still knows it decides (rule 9). */
export function suspectedLost(node: NodeRecord, now: Instant): boolean {
  const last = lastSign(node);
  if (node.removed !== null || node.silentSince === null || isStopped(node) || last === null) return false;
  return now >= after(last, LOST_AFTER);
}

const REASONS: Readonly<Record<Gone, string>> = {
  terminated: 'EC2 terminated it',
  deregistered: 'it was deregistered from SSM',
  lost: 'it has been silent for 24 h and SSM does not know it',
};

/** A tombstone as after DELETE, and the host is given up: its instances are HostLost. No crash (rule 9). */
export function machineGone(node: NodeRecord, how: Gone, at: Instant, context: NodeContext): Outcome<NodeRecord> {
  if (node.removed !== null) {
    if (how === 'lost' || node.removed.how !== undefined) return unchanged;
    const removed = { ...node.removed, how };
    return conclude(
      node,
      {
        node: { ...node, removed, fencedAt: context.now, untold: { kind: 'hostFenced', at: context.now } },
        facts: [{ kind: 'hostFenced', hostId: node.nodeId, at: context.now }],
      },
      context,
    );
  }
  if (how === 'lost' && !suspectedLost(node, context.now)) return unchanged;
  if (how === 'deregistered' && node.status !== null && node.status.reportedAt > after(at, EVENT_SLACK))
    return unchanged;
  const ended = endAttempt(node);
  return conclude(
    node,
    {
      node: {
        ...ended.node,
        removed: { at: context.now, reason: REASONS[how], how },
        fencedAt: context.now,
        untold: { kind: 'hostFenced', at: context.now },
        waitingSince: null,
      },
      facts: [
        ...ended.facts,
        { kind: 'event', type: 'Node Removed', severity: 'warning', message: `${REASONS[how]}; nothing is counted` },
        { kind: 'hostFenced', hostId: node.nodeId, at: context.now },
      ],
    },
    context,
  );
}

/**
 * What an event delivered again is to repeat, in case what followed from the first delivery was cut short: the fence as of
 * an instant (`undefined`: of everything), or nothing.
 */
export function fenceToRepeat(node: NodeRecord, kind: 'stopped' | Gone, at: Instant): { asOf?: Instant } | null {
  if (kind === 'stopped') return isStopped(node) && node.machine?.at === at ? { asOf: at } : null;
  return node.removed?.how === kind ? {} : null;
}
