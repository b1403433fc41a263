/** Why a node is where it is, what happens next, and when: in one sentence, and what else a person should know. */
import { saySkew } from '../contract/skew.ts';
import type { GroupView } from '../group/view.ts';
import { formatInstant, type Instant, sayWhen } from '../kit/time.ts';
import { ranAlready } from '../rollout/gates.ts';
import { blockersOf, sayBlockers } from './blockers.ts';
import { soakEnds, stepDue } from './deadline.ts';
import { offerOf } from './offer.ts';
import { isRecovering } from './phase.ts';
import { type NodeRecord, rebootDecided, waitsStaged } from './record.ts';
import { isStopped } from './signs.ts';
import { waitsFor } from './waits-for.ts';

export function explain(node: NodeRecord, group: GroupView, now: Instant): string {
  const { status, silentSince, wakeFailure, spec } = node;
  const said = [situation(node, group, now)];
  if (status?.progress !== undefined) said.push(`The node says: ${status.progress}.`);
  if (silentSince !== null) said.push(`It has been silent since ${formatInstant(status?.reportedAt ?? silentSince)}.`);
  if (wakeFailure !== null) {
    const again = spec.nextWakeAt === null ? '' : ` and is repeated ${sayWhen(spec.nextWakeAt, now)}`;
    said.push(`The last wake ended ${wakeFailure.status}${again}.`);
  }
  if (!group.declared) said.push(`Group ${node.group} is not declared and has the policy of default.`);
  const apart = saySkew(status?.agentVersion ?? null);
  if (apart !== null) said.push(apart);
  return said.join(' ');
}

function situation(node: NodeRecord, group: GroupView, now: Instant): string {
  const { status, spec } = node;
  if (isStopped(node))
    return `Stopped by EC2 at ${formatInstant(node.machine?.at ?? spec.since)}: nothing is expected of it and nothing counts until it reports again${node.heldBy === null ? '' : ` (held by ${node.heldBy})`}.`;
  if (node.unreachableSince !== null) return sayUnreachable(node, now);
  if (status === null)
    return 'Has not reported yet: nothing is known of it, and it is the last to be chosen; its first report brings it in.';
  if (isRecovering(node)) return sayRecovering(node, now);
  const waits = sayWaits(node, group, now);
  if (waits !== null) return waits;
  return spec.state === 'Idle' ? sayIdle(node, group, now) : `${sayStep(node, now)}${sayHold(node, group)}`;
}

const slotKept = ({ attempt }: NodeRecord): string => (attempt?.claimId == null ? '' : ' It keeps its slot.');

function sayUnreachable(node: NodeRecord, now: Instant): string {
  const { crash, spec, status, unreachableSince } = node;
  const counted = crash.lastAt !== null && crash.lastAt === unreachableSince;
  const last = status === null ? 'Has never reported' : `Has not reported since ${formatInstant(status.reportedAt)}`;
  const why = counted
    ? `${crash.lastState ?? 'a step'} was not reached by ${formatInstant(crash.lastAt ?? spec.since)}, which counted as a crash`
    : `a step was overdue at ${formatInstant(unreachableSince ?? spec.since)}, and nothing was counted`;
  const wake = spec.nextWakeAt === null ? '' : ` ${sayWhen(spec.nextWakeAt, now)}`;
  return `${last}: ${why}; it is woken again${wake} and goes on when it reports.${slotKept(node)}`;
}

function sayRecovering(node: NodeRecord, now: Instant): string {
  const { attempt, crash, status } = node;
  if (attempt?.succeeded === true)
    return 'The update passed its monitoring; the crash record is cleared when the node reports Idle.';
  if (attempt?.withdrawn !== undefined)
    return `Recovering: an update was withdrawn and nothing is counted (${attempt.withdrawn}); the node undoes what it had prepared, and nothing moves until it reports Idle.${slotKept(node)}`;
  const why =
    crash.lastReason === null || attempt === null
      ? `It reports ${status?.state ?? 'nothing'}`
      : `${crash.lastReason} on the way to ${crash.lastState ?? 'a step'} (crash ${crash.count})`;
  const then = crash.retryAfter === null ? '' : `, then the next attempt may begin ${sayWhen(crash.retryAfter, now)}`;
  return `Recovering: ${why}; nothing moves until it reports Idle${then}.${slotKept(node)}`;
}

/** What it waits for first, what it is about, and by their codes the gates that still stand behind that. */
function sayWaits(node: NodeRecord, group: GroupView, now: Instant): string | null {
  const [first, ...rest] = waitsFor(node, group, now);
  if (first === undefined) return null;
  const offer = offerOf(node);
  const version = node.spec.version ?? 'The version offered';
  const about = waitsStaged(node)
    ? ` ${version} is staged and not activated.`
    : offer.kind === 'newer' && !first.words.includes(offer.version ?? ' ')
      ? ` It could update to ${offer.version ?? 'the version offered'}.`
      : '';
  const then = rest.length === 0 ? '' : ` After that it still waits for: ${rest.map(({ code }) => code).join(', ')}.`;
  return `${first.words}.${about}${then}${sayFailures(node)}`;
}

function sayStep(node: NodeRecord, now: Instant): string {
  const { spec, attempt, status } = node;
  const target = spec.version ?? 'the version offered';
  const due = stepDue(node);
  const wake = spec.nextWakeAt === null ? '' : ` ${sayWhen(spec.nextWakeAt, now)}`;
  const deadline = due === null ? '' : sayWhen(due.at, now);
  if (waitsStaged(node))
    return `${target} is staged and may be activated${attempt?.letOnAt == null ? '' : `; the node is woken again${wake}, and the update is withdrawn uncounted if it is not heard of ${deadline}`}.`;
  const ends = soakEnds(node);
  if (ends !== null)
    return `Runs ${target} and is being watched; the update is complete with its first report after the soak time, which ends ${sayWhen(ends, now)}, if no check fails; no report ${deadline} counts as a crash.`;
  if (due?.kind === 'withdrawal')
    return `Asked to reach ${spec.state} for ${target}, not picked up yet; the wake is repeated${wake} and the step is withdrawn uncounted ${deadline}.`;
  if (due === null) return `${spec.state} for ${target} is reached; the next report takes it on.`;
  const drain = status?.drainBlockedBy == null ? '' : ` Its drain is blocked by ${status.drainBlockedBy}.`;
  return `On the way to ${spec.state} for ${target}; not there ${deadline} counts as a crash.${drain}`;
}

/** From the first moment: where an attempt that is under way will stop, or why it does not. */
function sayHold(node: NodeRecord, group: GroupView): string {
  const blockers = blockersOf(node);
  const by =
    node.heldBy !== null
      ? `held by ${node.heldBy}`
      : group.pausedBy !== null
        ? `its group is paused by ${group.pausedBy}`
        : blockers.length > 0
          ? `${sayBlockers(blockers)} from its reboot`
          : null;
  if (by === null) return '';
  if (rebootDecided(node)) return ` It finishes this update although ${by}.`;
  return ` It goes no further than that: ${by}.`;
}

/** ", since …": what the agent says of a check that found nothing. */
function sayReason({ status }: NodeRecord): string {
  const message = status?.updateCheck.message;
  return status?.updateCheck.result === 'UpToDate' && message !== undefined ? `, since ${message}` : '';
}

function sayFailures({ crash }: NodeRecord): string {
  if (crash.count === 0) return '';
  const often = crash.count === 1 ? 'once' : `${crash.count} times`;
  const message = crash.lastMessage === null ? '' : ` (${crash.lastMessage})`;
  return ` Crashed ${often}, last ${crash.lastReason ?? ''} on the way to ${crash.lastState ?? 'a step'}${message}.`;
}

function sayIdle(node: NodeRecord, group: GroupView, now: Instant): string {
  const offer = offerOf(node);
  switch (offer.kind) {
    case 'checkFailed':
      return `Update check failed: ${offer.message}; no update starts until a check succeeds.${sayFailures(node)}`;
    case 'newer': {
      const again = ranAlready(node, group, now);
      const version = offer.version ?? 'the version offered';
      return again === null
        ? `Could update to ${version}, and a slot of its group is free: it starts as soon as the group is filled, at the latest at the next sweep.${sayFailures(node)}`
        : `The version it staged last runs already, so nothing was taken; ${version} is tried again when the offer changes, at the latest ${sayWhen(again, now)}.${sayFailures(node)}`;
    }
    case 'upToDate':
      return `Up to date: runs ${node.status?.currentVersion ?? 'an unknown version'} and nothing newer is offered to it${sayReason(node)}; offers come in waves, so others may have one before it.${sayFailures(node)}`;
    case 'removed':
      return `Removed: ${node.removed?.reason ?? ''}.`;
    case 'notReported':
    case 'stopped':
    case 'recovering':
    case 'underWay':
      return `Waits for the node's next report.${sayFailures(node)}`;
  }
}
