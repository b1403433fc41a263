/** What is written of a report whatever it leads to. */
import type { NodeReport } from '../contract/agent-bodies.ts';
import { between, hours, type Instant } from '../kit/time.ts';
import { headOf } from '../kit/text.ts';
import {
  BOOTS_KEPT,
  BOOTS_KEPT_AT_REST,
  EVENTS_KEPT_AT_REST,
  type HostNews,
  type NodeRecord,
  type NodeStatus,
  REPORTED_AT_REFRESH,
} from './record.ts';
import { isStopped } from './signs.ts';

export const MESSAGE_MAX = 1000;
const PROGRESS_MAX = 300;
/** Long texts are cut, not refused: a refused crash report would be a lost crash. */
export const cut = (text: string, max = MESSAGE_MAX): string =>
  text.length <= max ? text : `${headOf(text, max - 1)}…`;

/** Whether something is written of the node that its next report ends. */
const isMarked = (node: NodeRecord): boolean =>
  node.unreachableSince !== null || node.silentSince !== null || node.wakeFailure !== null || isStopped(node);

/** Records what was observed; the same node when nothing is worth a write. */
export function observe(node: NodeRecord, report: NodeReport, now: Instant): NodeRecord {
  const seen = statusOf(report, now);
  const { status } = node;
  const rebooted = status !== null && status.bootId !== report.bootId;
  const sameFacts = status !== null && sameStatus(status, seen);
  const fresh = status !== null && between(status.reportedAt, now) < REPORTED_AT_REFRESH;
  const marked = isMarked(node);
  if (sameFacts && fresh && !marked) return orderReports(node, status, seen.uptime, now);
  return {
    ...(sameFacts && !marked ? rested(node, now) : node),
    status: { ...seen, uptime: seen.uptime ?? (rebooted ? null : (status?.uptime ?? null)) },
    ...(rebooted ? { previousBoots: replaced(node, status.bootId, report.bootId) } : {}),
    unreachableSince: null,
    silentSince: null,
    wakeFailure: null,
    untold: afterReport(node),
    machine: null,
    fencedAt: rebooted ? null : node.fencedAt,
  };
}

const isSettled = ({ attempt, spec }: NodeRecord): boolean =>
  attempt === null && spec.state === 'Idle' && spec.reachedAt !== null;

const DAY = hours(24);

/**
 * A node that has said the same for half an hour and has no crash on record keeps little of its past: each KB of its item
 * is paid with each report that is written.
 */
function rested(node: NodeRecord, now: Instant): NodeRecord {
  const { events, previousBoots, crash } = node;
  if (!isSettled(node) || crash.count > 0) return node;
  const old = events.slice(0, -EVENTS_KEPT_AT_REST);
  return {
    ...node,
    events: [...old.filter(({ at }) => between(at, now) < DAY), ...events.slice(-EVENTS_KEPT_AT_REST)],
    previousBoots: previousBoots.slice(-BOOTS_KEPT_AT_REST),
  };
}

/** The boots that are over, once `next` is known to be the living one. */
export const replaced = ({ previousBoots }: NodeRecord, last: string, next: string): string[] =>
  [...previousBoots.filter((boot) => boot !== next), last].slice(-BOOTS_KEPT);

/**
 * While a node is under way each accepted uptime is kept, so that a report overtaken by a later one is out of order and
 * counts nothing; and when it was, so that its last report can be named once it is overdue. An Idle node's is kept only with something else: there a late report can fail no transition, and a
 * report that changes nothing costs one read.
 */
function orderReports(node: NodeRecord, status: NodeStatus, uptime: number | null, seen: Instant): NodeRecord {
  if (isSettled(node)) return node;
  return { ...node, status: { ...status, uptime: uptime ?? status.uptime, reportedAt: seen } };
}

/** With other news the uptime of an Idle node is kept, too: the same report again is then an old one. */
export function withUptime(node: NodeRecord, { bootId, uptime }: NodeReport): NodeRecord {
  const { status } = node;
  if (status === null || uptime === undefined || status.bootId !== bootId || status.uptime === uptime) return node;
  return { ...node, status: { ...status, uptime } };
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
    ...(report.zone === undefined ? {} : { zone: report.zone }),
  };
}

/** Whether two statuses differ in nothing but what alone is no reason to write: when it was, and how long the node had been up. */
const sameStatus = (a: NodeStatus, b: NodeStatus): boolean =>
  a.state === b.state &&
  a.currentVersion === b.currentVersion &&
  a.bootId === b.bootId &&
  a.updateCheck.result === b.updateCheck.result &&
  (a.updateCheck.version ?? null) === (b.updateCheck.version ?? null) &&
  (a.updateCheck.message ?? null) === (b.updateCheck.message ?? null) &&
  a.agentVersion === b.agentVersion &&
  a.drainBlockedBy === b.drainBlockedBy &&
  (a.progress ?? null) === (b.progress ?? null) &&
  (a.zone ?? null) === (b.zone ?? null);
