/** What a node's own report does (DESIGN sections 2 and 6). */
import type { NodeReport } from '../contract/agent-bodies.ts';
import { headOf } from '../kit/text.ts';
import { type Instant, between, minutes } from '../kit/time.ts';
import { advance, reachIdle } from './advance.ts';
import {
  type Attempt,
  BOOTS_KEPT,
  type HostNews,
  type NodeRecord,
  type NodeStatus,
  REPORTED_AT_REFRESH,
} from './record.ts';
import { isStopped } from './signs.ts';
import { block, blocksVersion, crash, type Step } from './spec.ts';

export const MESSAGE_MAX = 1000;
const PROGRESS_MAX = 300;
/** Long texts are cut, not refused: a refused crash report would be a lost crash. */
export const cut = (text: string, max = MESSAGE_MAX): string =>
  text.length <= max ? text : `${headOf(text, max - 1)}…`;

/**
 * No request is on its way for longer: a signature is good for five minutes, by a clock that may be five minutes off
 * (AWS IAM User Guide, "Signing AWS API requests").
 */
const OVERTAKEN_AT_MOST = minutes(15);

/**
 * A report whose boot has been replaced by another, or whose uptime is not above the last accepted one. A first report
 * that was overtaken by the next boot's makes the living boot look replaced; that one is believed again when it was
 * certainly sent after the boot that took its place was last heard.
 */
export function outOfOrder(node: NodeRecord, report: NodeReport, now: Instant): boolean {
  const { status } = node;
  if (node.previousBoots.includes(report.bootId)) return !outlived(node, now);
  if (status === null || status.bootId !== report.bootId) return false;
  return report.uptime !== undefined && status.uptime !== null && report.uptime <= status.uptime;
}

function outlived({ status, removed }: NodeRecord, now: Instant): boolean {
  if (status === null || removed?.how === 'terminated') return false;
  return between(status.reportedAt, now) > OVERTAKEN_AT_MOST;
}

/** Whether something is written of the node that its next report ends. */
const isMarked = (node: NodeRecord): boolean =>
  node.unreachableSince !== null || node.silentSince !== null || node.wakeFailure !== null || isStopped(node);

/** Records what was observed; the same node when nothing is worth a write. */
export function observe(node: NodeRecord, report: NodeReport, now: Instant): NodeRecord {
  const seen = statusOf(report, now);
  const { status } = node;
  const rebooted = status !== null && status.bootId !== report.bootId;
  const sameFacts = status !== null && describeStatus(status) === describeStatus(seen);
  const fresh = status !== null && between(status.reportedAt, now) < REPORTED_AT_REFRESH;
  const marked = isMarked(node);
  if (sameFacts && fresh && !marked) return orderReports(node, status, seen);
  return {
    ...node,
    status: { ...seen, uptime: seen.uptime ?? (rebooted ? null : (status?.uptime ?? null)) },
    previousBoots: rebooted ? replaced(node, status.bootId, report.bootId) : node.previousBoots,
    unreachableSince: null,
    silentSince: null,
    wakeFailure: null,
    untold: afterReport(node),
    machine: null,
    fencedAt: rebooted ? null : node.fencedAt,
  };
}

/** The boots that are over, once `next` is known to be the living one. */
export const replaced = ({ previousBoots }: NodeRecord, last: string, next: string): string[] =>
  [...previousBoots.filter((boot) => boot !== next), last].slice(-BOOTS_KEPT);

/**
 * While a node is under way each accepted uptime is kept, so that a report overtaken by a later one is out of order and
 * counts nothing. An Idle node's is kept only with something else: there a late report can fail no transition, and a
 * report that changes nothing costs one read.
 */
function orderReports(node: NodeRecord, status: NodeStatus, { uptime }: NodeStatus): NodeRecord {
  const settled = node.attempt === null && node.spec.state === 'Idle' && node.spec.reachedAt !== null;
  return settled || uptime === null ? node : { ...node, status: { ...status, uptime } };
}

/** A report of an older generation proves only that the node lives: what it says is stale. */
export function heard(node: NodeRecord, now: Instant): NodeRecord {
  const { status } = node;
  if (!isMarked(node)) return node;
  return {
    ...node,
    status: status === null ? null : { ...status, reportedAt: now },
    unreachableSince: null,
    silentSince: null,
    wakeFailure: null,
    untold: afterReport(node),
    machine: null,
  };
}

/** A host that reports is silent no more; that it was fenced, or booted anew, its VMs still have to learn. */
const afterReport = ({ untold }: NodeRecord): HostNews | null =>
  untold?.kind === 'hostFenced' || untold?.kind === 'hostBooted' ? untold : null;

function statusOf(report: NodeReport, now: Instant): NodeStatus {
  const { version, message } = report.updateCheck;
  const blockedBy = report.drain?.blockedBy;
  const { progress } = report;
  return {
    state: report.state,
    currentVersion: report.currentVersion,
    bootId: report.bootId,
    uptime: report.uptime ?? null,
    reportedAt: now,
    updateCheck: {
      result: report.updateCheck.result,
      ...(version === undefined ? {} : { version }),
      ...(message === undefined ? {} : { message: cut(message) }),
    },
    agentVersion: report.agentVersion ?? null,
    drainBlockedBy:
      blockedBy === undefined ? null : cut(typeof blockedBy === 'string' ? blockedBy : blockedBy.join(', ')),
    ...(progress === undefined
      ? {}
      : { progress: cut(typeof progress === 'string' ? progress : JSON.stringify(progress), PROGRESS_MAX) }),
  };
}

/** A status without what alone is no reason to write: when it was, and how long the node had been up. */
const describeStatus = (status: NodeStatus): string =>
  JSON.stringify([
    status.state,
    status.currentVersion,
    status.bootId,
    status.updateCheck.result,
    status.updateCheck.version ?? null,
    status.updateCheck.message ?? null,
    status.agentVersion,
    status.drainBlockedBy,
    status.progress ?? null,
  ]);

/**
 * Judges a report of the present generation (or one without a generation, which completes and fails nothing except
 * that Idle with the spec Idle is believed).
 */
export function judge(node: NodeRecord, report: NodeReport, paused: boolean, now: Instant): Step {
  if (node.spec.state === 'Idle') return judgeIdle(node, report, now);
  if (report.generation === undefined) return { node, facts: [] };
  const rolledBack = rollback(node, report);
  if (rolledBack !== null) return crash(node, 'RolledBack', rolledBack, now);
  if (report.state === 'ErrorReset') {
    const reason = cut(report.error?.reason ?? 'ErrorReset', 100);
    return crash(node, reason === '' ? 'ErrorReset' : reason, messageOf(report), now);
  }
  if (report.state !== node.spec.state || node.spec.reachedAt !== null) return { node, facts: [] };
  if (report.state === 'RebootedIntoUpdate' && report.bootId === node.attempt?.fromBootId) return { node, facts: [] };
  return reach(node, report, paused, now);
}

const messageOf = (report: NodeReport): string | null => {
  const text = report.error?.message;
  return text === undefined || text === '' ? null : cut(text);
};

function judgeIdle(node: NodeRecord, report: NodeReport, now: Instant): Step {
  const { spec, attempt } = node;
  if (report.state === 'Idle') return spec.reachedAt === null ? reachIdle(node, now) : { node, facts: [] };
  if (report.generation === undefined) return { node, facts: [] };
  if (report.state === 'ErrorReset' && attempt?.succeeded === true) {
    return { node: spoil(node, attempt, report), facts: [] };
  }
  if (spec.reachedAt === null) return { node, facts: [] };
  const nextWakeAt = now;
  return { node: { ...node, spec: { ...spec, reachedAt: null, nextWakeAt, acknowledgedAt: null } }, facts: [] };
}

/**
 * A check that failed while the soak time was running out: the spec is Idle already, so nothing is counted, but the
 * update was no success, its crash record stays (DESIGN section 2, row Idle), and a version that is rolled back is blocked.
 */
export function spoil(node: NodeRecord, attempt: Attempt, report: NodeReport): NodeRecord {
  const spoiled = { ...node, attempt: { ...attempt, succeeded: false } };
  return blocksVersion(node, report.error?.reason ?? '') ? block(spoiled, attempt.version) : spoiled;
}

/** A new boot with the old version, once the node was told to boot into the new one (rule 5). */
function rollback(node: NodeRecord, report: NodeReport): string | null {
  const { attempt, spec } = node;
  if (attempt === null) return null;
  if (spec.state !== 'RebootedIntoUpdate' && spec.state !== 'MonitoringUpdate') return null;
  if (report.bootId === attempt.fromBootId || report.currentVersion !== attempt.fromVersion) return null;
  return `booted back into ${attempt.fromVersion}${attempt.version === null ? '' : ` instead of ${attempt.version}`}`;
}

function reach(node: NodeRecord, report: NodeReport, paused: boolean, now: Instant): Step {
  const offered =
    report.state === 'StagedUpdate' && report.updateCheck.result === 'Available'
      ? report.updateCheck.version
      : undefined;
  const version = offered ?? node.spec.version;
  const { attempt } = node;
  const reached: NodeRecord = {
    ...node,
    spec: { ...node.spec, version, reachedAt: now, nextWakeAt: null },
    attempt: attempt === null ? null : { ...attempt, version },
  };
  return advance(reached, paused, now);
}

/** The spec is about to be given in an answer to the node's report: its deadline runs from now. */
export function acknowledge(node: NodeRecord, now: Instant): NodeRecord {
  if (node.spec.acknowledgedAt !== null) return node;
  const keepsWaking = node.spec.state === 'Idle' && node.spec.reachedAt === null;
  return {
    ...node,
    spec: { ...node.spec, acknowledgedAt: now, nextWakeAt: keepsWaking ? node.spec.nextWakeAt : null },
  };
}
