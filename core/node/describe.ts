/** A node as the API shows it: the same record that decides also explains (DESIGN section 2 rule 10). */
import type { NodeJson } from '../contract/answers.ts';
import type { NodePhase } from '../contract/words.ts';
import { HEALTH_CHECK_FAILED } from '../policy/monitor.ts';
import { saySkew } from '../contract/skew.ts';
import { after, formatInstant, type Instant } from '../kit/time.ts';
import { blockersOf, sayBlockers } from './maintenance.ts';
import { readiness, sayWhen } from './readiness.ts';
import { type NodeRecord, WITHDRAW_AFTER } from './record.ts';
import { isStopped } from './signs.ts';

/** What the explanation of a node needs to know of its group. */
export type GroupSituation = { paused: boolean; free: number | null; declared: boolean };

export function describeNode(node: NodeRecord, group: GroupSituation, now: Instant): NodeJson {
  const { spec, status, crash } = node;
  const at = (when: Instant | null): string | null => (when === null ? null : formatInstant(when));
  return {
    nodeId: node.nodeId,
    group: node.group,
    spec: { state: spec.state, version: spec.version, generation: spec.generation, since: formatInstant(spec.since) },
    status:
      status === null
        ? null
        : {
            state: status.state,
            currentVersion: status.currentVersion,
            bootId: status.bootId,
            reportedAt: formatInstant(status.reportedAt),
            updateCheck: status.updateCheck,
            agentVersion: status.agentVersion,
            ...(status.progress === undefined ? {} : { progress: status.progress }),
            ...(status.drainBlockedBy === null ? {} : { drainBlockedBy: status.drainBlockedBy }),
          },
    crash: {
      count: crash.count,
      firstAt: at(crash.firstAt),
      lastAt: at(crash.lastAt),
      retryAfter: at(crash.retryAfter),
      resetAt: at(crash.resetAt),
      lastState: crash.lastState,
      lastReason: crash.lastReason,
      lastMessage: crash.lastMessage,
    },
    blockedVersions: node.blockedVersions,
    heldBy: node.heldBy,
    phase: nodePhase(node, group, now),
    explanation: explain(node, group, now),
  };
}

/** The first phase that matches, in the order of DESIGN section 2 rule 10. */
export function nodePhase(node: NodeRecord, group: GroupSituation, now: Instant): NodePhase {
  const { spec } = node;
  const may = readiness(node, now);
  if (isStopped(node)) return node.heldBy === null ? 'Idle' : 'Held';
  const toDisrupt = spec.state === 'PerformedUpdate' && spec.reachedAt !== null;
  if (node.unreachableSince !== null) return 'Unreachable';
  if (spec.state === 'Idle' && node.status !== null && (spec.reachedAt === null || may.kind === 'recovering')) {
    return node.attempt?.succeeded === true ? 'Monitoring' : 'Recovering';
  }
  if (node.heldBy !== null) return 'Held';
  if (group.paused && (may.kind === 'ready' || toDisrupt)) return 'Held';
  if (toDisrupt && blockersOf(node).length > 0) return 'Held';
  if (spec.state === 'MonitoringUpdate') return 'Monitoring';
  if (spec.state !== 'Idle') return 'Updating';
  if (may.kind === 'backingOff') return 'BackingOff';
  if (may.kind === 'ready') return 'Queued';
  return 'Idle';
}

function explain(node: NodeRecord, group: GroupSituation, now: Instant): string {
  const sentence = situation(node, group, now);
  const policy = group.declared ? '' : ` Group ${node.group} is not declared and has the policy of default.`;
  const silent =
    node.silentSince === null
      ? ''
      : ` It has been silent since ${formatInstant(node.status?.reportedAt ?? node.silentSince)}.`;
  const wake =
    node.wakeFailure === null
      ? ''
      : ` The last wake ended ${node.wakeFailure.status}${node.spec.nextWakeAt === null ? '' : ` and is repeated ${sayWhen(node.spec.nextWakeAt, now)}`}.`;
  const progress = node.status?.progress === undefined ? '' : ` The node says: ${node.status.progress}.`;
  const apart = saySkew(node.status?.agentVersion ?? null);
  const skew = apart === null ? '' : ` ${apart}`;
  return `${sentence}${progress}${silent}${wake}${policy}${skew}`;
}

function situation(node: NodeRecord, group: GroupSituation, now: Instant): string {
  const { spec, status, crash } = node;
  if (node.machine?.state === 'stopped')
    return `Stopped by EC2 at ${formatInstant(node.machine.at)}: nothing is expected of it and nothing counts until it reports again${node.heldBy === null ? '' : ` (held by ${node.heldBy})`}.`;
  const slot = node.attempt?.claimId == null ? '' : ' It keeps its slot.';
  if (node.unreachableSince !== null)
    return `Has not reported since ${formatInstant(node.unreachableSince)}, when a step was ${crash.lastReason === 'DeadlinePassed' && crash.lastAt === node.unreachableSince ? `counted as a crash: ${crash.lastState ?? 'a step'} was not reached within its deadline` : 'overdue'}; it is woken again${spec.nextWakeAt === null ? '' : ` ${sayWhen(spec.nextWakeAt, now)}`} and goes on when it reports.${slot}`;
  if (status === null)
    return 'Has not reported yet: nothing is known of it, and it is the last to be chosen; its first report brings it in.';
  if (spec.state !== 'Idle') return underWaySentence(node, group, now);
  if (spec.reachedAt === null || status.state !== 'Idle') {
    if (node.attempt?.succeeded === true)
      return `The update passed its monitoring; the crash record is cleared when the node reports Idle.`;
    const why =
      crash.lastReason === null
        ? `It reports ${status.state}`
        : `${crash.lastReason} on the way to ${crash.lastState ?? 'a step'} (crash ${crash.count})`;
    return `Recovering: ${why}; nothing moves until it reports Idle${crash.retryAfter === null ? '' : `, then the next attempt may begin ${sayWhen(crash.retryAfter, now)}`}.${slot}`;
  }
  return idleSentence(node, group, now);
}

function underWaySentence(node: NodeRecord, group: GroupSituation, now: Instant): string {
  const { spec } = node;
  const target = spec.version === null ? 'the version offered' : spec.version;
  if (spec.state === 'PerformedUpdate' && spec.reachedAt !== null) {
    const blockers = blockersOf(node);
    if (blockers.length > 0 && node.heldBy === null && !group.paused)
      return `Ready to reboot into ${target}, but ${sayBlockers(blockers)} from it (maintenance: block); it goes on when they are off or no longer block.`;
    const by =
      node.heldBy !== null
        ? `held by ${node.heldBy}`
        : group.paused
          ? 'held because its group is paused'
          : 'about to reboot';
    return `Ready to reboot into ${target}, ${by}; it goes on when released.`;
  }
  if (spec.state === 'MonitoringUpdate' && spec.reachedAt !== null) {
    return `Runs ${target} and is being watched; the update is complete ${sayWhen(after(spec.reachedAt, node.policy.soak), now)} if no check fails.`;
  }
  if (spec.acknowledgedAt === null) {
    const until = after(spec.since, WITHDRAW_AFTER);
    return `Asked to reach ${spec.state} for ${target}, not picked up yet; the wake is repeated${spec.nextWakeAt === null ? '' : ` ${sayWhen(spec.nextWakeAt, now)}`} and the step is withdrawn uncounted ${sayWhen(until, now)}.`;
  }
  const deadline = after(spec.acknowledgedAt, node.policy.deadlines[spec.state]);
  const drain = node.status?.drainBlockedBy == null ? '' : ` Its drain is blocked by ${node.status.drainBlockedBy}.`;
  return `On the way to ${spec.state} for ${target}; not there ${sayWhen(deadline, now)} counts as a crash.${drain}`;
}

/** ", since …": what the agent says of a check that found nothing. */
function sayHeld({ status }: NodeRecord): string {
  const message = status?.updateCheck.message;
  return status?.updateCheck.result === 'UpToDate' && message !== undefined ? `, since ${message}` : '';
}

/** With several blocked versions the last crash may have been another one's. */
function whyBlocked({ blockedVersions, crash }: NodeRecord): string {
  const reason = blockedVersions.length === 1 ? crash.lastReason : null;
  if (reason === 'RolledBack') return 'it booted back from it';
  if (reason === HEALTH_CHECK_FAILED) return 'it failed its health checks there';
  return 'it booted back from it or failed its health checks there';
}

function idleSentence(node: NodeRecord, group: GroupSituation, now: Instant): string {
  const { crash } = node;
  const may = readiness(node, now);
  const failures =
    crash.count === 0
      ? ''
      : ` Crashed ${crash.count === 1 ? 'once' : `${crash.count} times`}, last ${crash.lastReason ?? ''} on the way to ${crash.lastState ?? 'a step'}${crash.lastMessage === null ? '' : ` (${crash.lastMessage})`}.`;
  switch (may.kind) {
    case 'held':
      return `Held by ${may.by}: nothing starts until it is released.${failures}`;
    case 'backingOff':
      return `Waits after a crash; the next attempt may begin ${sayWhen(may.until, now)}${crash.resetAt === null ? '' : `, and the record is forgotten ${sayWhen(crash.resetAt, now)}`}.${failures}`;
    case 'checkFailed':
      return `Update check failed: ${may.message}; no update starts until a check succeeds.${failures}`;
    case 'blocked':
      return `Version ${may.version} is blocked on this node because ${whyBlocked(node)}; it waits for another version${crash.resetAt === null ? '' : ` or until the crash record is forgotten ${sayWhen(crash.resetAt, now)}`}.${failures}`;
    case 'ready': {
      const version = may.version ?? 'the version offered';
      if (group.paused)
        return `Could update to ${version}, but its group is paused; it goes on when the group is resumed.${failures}`;
      return `Waits for a free slot of its group to update to ${version}${group.free === null || group.free > 0 ? '; it starts as soon as the group is filled, at the latest at the next sweep' : '; it starts when a node before it is done'}.${failures}`;
    }
    case 'upToDate':
      return `Up to date: runs ${node.status?.currentVersion ?? 'an unknown version'} and nothing newer is offered${sayHeld(node)}.${failures}`;
    case 'removed':
      return `Removed: ${node.removed?.reason ?? ''}.`;
    case 'notReported':
    case 'stopped':
    case 'recovering':
    case 'underWay':
      return `Waits for the node's next report.${failures}`;
  }
}
