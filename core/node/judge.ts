/** What a report proves of the step under way: that it is reached, that it has failed, or neither (DESIGN section 2). */
import type { NodeReport } from '../contract/agent-bodies.ts';
import type { Fact } from '../decision/fact.ts';
import { info } from '../decision/fact.ts';
import type { GroupView } from '../group/view.ts';
import type { Instant } from '../kit/time.ts';
import { fellBack, fellBackLate, fellBackUncounted } from './boots.ts';
import { block } from './blocks.ts';
import { blocksVersion, crash } from './crash.ts';
import { disarm, goOn } from './go-on.ts';
import { cut } from './observe.ts';
import type { Attempt, NodeRecord } from './record.ts';
import { clearCrash, endAttempt, type Step } from './spec.ts';

/** So many boots while the node is watched, the update's own apart, are a crash (DESIGN section 2 rule 5). */
const UNSTABLE_BOOTS = 3;

export type Judged = {
  /** With what the report said of itself written down. */
  node: NodeRecord;
  /** The boot that was heard before this one. */
  lastBoot: string | null;
  /** Of the present generation, or without one: that completes and fails no step, except that Idle with the spec Idle is believed. */
  report: NodeReport;
  group: GroupView | null;
  now: Instant;
};

export function judge({ node, lastBoot, report, group, now }: Judged): Step {
  const believed = report.generation !== undefined || (node.spec.state === 'Idle' && report.state === 'Idle');
  const back = believed ? fellBack(node, report) : null;
  if (back !== null) return rolledBack(node, back, now);
  const late = fellBackLate(node, report, now);
  if (late !== null) return rolledBackLate(node, late.from, now);
  if (node.spec.state === 'Idle') {
    const known = fellBackUncounted(node, report, now) ? { ...node, completed: null } : node;
    return judgeIdle(known, report, now);
  }
  if (report.generation === undefined) return { node, facts: [] };
  if (report.state === 'ErrorReset') {
    const reason = cut(report.error?.reason ?? 'ErrorReset', 100);
    return crash(node, { reason: reason === '' ? 'ErrorReset' : reason, message: messageOf(report) }, now);
  }
  if (report.notBegun === true && node.spec.state === 'RebootedIntoUpdate') return notBegun(node, report, group, now);
  if (report.state !== node.spec.state) return { node, facts: [] };
  const watched = watch(node, lastBoot, report, now);
  if (watched.unstable) return crash(watched.node, { reason: 'UnstableBoot', message: sayUnstable(report) }, now);
  return goOn(reach(watched.node, report, now), group, now);
}

const sayUnstable = ({ currentVersion }: NodeReport): string =>
  `rebooted ${UNSTABLE_BOOTS} times by itself while ${currentVersion} was being watched`;

function rolledBack(node: NodeRecord, message: string, now: Instant): Step {
  const failed = crash(node, { reason: 'RolledBack', message }, now);
  return { ...failed, node: { ...failed.node, completed: null } };
}

/** The version that was completed does not run any more: whatever is under way meanwhile ends with it. */
function rolledBackLate(node: NodeRecord, running: string, now: Instant): Step {
  const { completed } = node;
  const version = completed?.version ?? '';
  const stopped: NodeRecord = { ...node, spec: { ...node.spec, state: 'Idle', version: null } };
  const message = `booted back into ${running} after the update to ${version} was complete`;
  const failed = crash(stopped, { reason: 'RolledBack', message, towards: version }, now);
  return { ...failed, node: { ...failed.node, completed: null } };
}

/** It heard too late of its reboot and has not begun: what says stop withdraws it, else it is answered anew. */
function notBegun(node: NodeRecord, report: NodeReport, group: GroupView | null, now: Instant): Step {
  if (report.state !== 'PerformedUpdate' || group === null) return { node, facts: [] };
  const stopped = disarm(node, group, now);
  return stopped ?? { node: { ...node, spec: { ...node.spec, acknowledgedAt: null, nextWakeAt: null } }, facts: [] };
}

/** A boot that is not the one being watched begins the watch anew. */
function watch(node: NodeRecord, lastBoot: string | null, report: NodeReport, now: Instant): Watched {
  const { attempt, spec } = node;
  const { bootId } = report;
  if (attempt === null || spec.state !== 'MonitoringUpdate') return { node, unstable: false };
  // Absent: the step was begun by a release before this, which did not write it down.
  const known = attempt.watch ?? { bootId: lastBoot ?? bootId, reboots: 0, passed: true };
  if (known.bootId === bootId) return { node, unstable: false };
  const reboots = known.reboots + 1;
  const begun: NodeRecord = {
    ...node,
    spec: { ...spec, reachedAt: null, acknowledgedAt: now },
    attempt: { ...attempt, watch: { ...known, bootId, reboots } },
  };
  return { node: begun, unstable: reboots >= UNSTABLE_BOOTS };
}
type Watched = { node: NodeRecord; unstable: boolean };

/** Status has reached the spec; the same node when it had before, or has not. */
function reach(node: NodeRecord, report: NodeReport, now: Instant): NodeRecord {
  const { spec, attempt } = node;
  if (spec.reachedAt !== null) return node;
  if (report.state === 'RebootedIntoUpdate' && report.bootId === attempt?.fromBootId) return node;
  const offered =
    report.state === 'StagedUpdate' && report.updateCheck.result === 'Available'
      ? report.updateCheck.version
      : undefined;
  const version = offered ?? spec.version;
  return {
    ...node,
    spec: { ...spec, version, reachedAt: now, nextWakeAt: null },
    attempt: attempt === null ? null : { ...attempt, version, ...watchFrom(attempt, report) },
  };
}

function watchFrom({ watch: known }: Attempt, { state, bootId }: NodeReport): Pick<Attempt, 'watch'> {
  if (state === 'RebootedIntoUpdate') return { watch: { bootId, reboots: 0, passed: false } };
  if (state === 'MonitoringUpdate') return { watch: { reboots: 0, ...known, bootId, passed: true } };
  return {};
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
    return { node: spoil(node, attempt, report, now), facts: [] };
  }
  if (spec.reachedAt === null) return { node, facts: [] };
  const nextWakeAt = now;
  return { node: { ...node, spec: { ...spec, reachedAt: null, nextWakeAt, acknowledgedAt: null } }, facts: [] };
}

/**
 * A check that failed while the soak time was running out: the spec is Idle already, so nothing is counted, but the
 * update was no success, its crash record stays (DESIGN section 2, row Idle), and a version that is rolled back is blocked.
 */
function spoil(node: NodeRecord, attempt: Attempt, report: NodeReport, now: Instant): NodeRecord {
  const spoiled = { ...node, attempt: { ...attempt, succeeded: false } };
  return blocksVersion(node, report.error?.reason ?? '') ? block(spoiled, attempt.version, now) : spoiled;
}

/** Status has reached Idle: the attempt ends, its slot is freed, and after a success the crash record is cleared. */
function reachIdle(node: NodeRecord, now: Instant): Step {
  const reached: NodeRecord = { ...node, spec: { ...node.spec, reachedAt: now, nextWakeAt: null } };
  const { attempt, status } = node;
  if (attempt === null) return { node: reached, facts: [] };
  const ended = endAttempt(reached);
  const said = (fact: Fact): Fact[] => [...ended.facts, fact];
  if (!attempt.succeeded) {
    const after =
      attempt.withdrawn === undefined ? `crash ${node.crash.count}` : `an update was withdrawn: ${attempt.withdrawn}`;
    return { node: ended.node, facts: said(info('Node Recovered', `Idle again after ${after}`)) };
  }
  const version = status?.currentVersion ?? attempt.version ?? 'unknown';
  const completed = { version, from: attempt.fromVersion, bootId: status?.bootId ?? '', at: now };
  return {
    node: { ...clearCrash(ended.node), completed },
    facts: said(info('Node Updated', `updated from ${attempt.fromVersion} to ${version}`)),
  };
}

/** A check that failed while the soak time was running out, reported after the spec had moved on. */
export function spoiled(node: NodeRecord, report: NodeReport, now: Instant): NodeRecord {
  const { attempt, spec } = node;
  const late = report.state === 'ErrorReset' && report.generation === spec.generation - 1;
  if (!late || spec.state !== 'Idle' || attempt?.succeeded !== true) return node;
  return spoil(node, attempt, report, now);
}
