/**
 * The decision about one node: state × event × now → state. Pure, total and deterministic; the same state always gives
 * the same answer, and what happened is returned as facts (DESIGN section 7).
 */
import type { NodeReport } from '../contract.ts';
import { type Fact, logEvents, type Outcome, refused, unchanged } from '../fact.ts';
import type { GroupId, NodeId } from '../ids.ts';
import { type GroupPolicy, groupPolicyOf } from '../policy.ts';
import { after, between, type Instant, seconds } from '../time.ts';
import { advance, nextRepeat, settle } from './advance.ts';
import { readiness } from './readiness.ts';
import { NO_CRASH, type NodeRecord, SILENT_AFTER, underWay, WITHDRAW_AFTER } from './record.ts';
import { acknowledge, judge, observe, outOfOrder } from './report.ts';
import { clearCrash, crash, endAttempt, moveSpec, type Step } from './spec.ts';

/** What a node's decision needs to know of its group. */
export type GroupView = { policy: GroupPolicy; paused: boolean };

export type NodeEvent =
  | { kind: 'report'; report: NodeReport }
  /** A timer fired, or the sweep found the node overdue. */
  | { kind: 'due' }
  /** The group gives the node a slot (null: the group has no limit); `told` when this is the answer to its own report. */
  | { kind: 'start'; claim: { claimId: string; at: Instant } | null; told: boolean }
  /** The group was resumed: go on if you were held before the disruptive step. */
  | { kind: 'proceed' }
  | { kind: 'retry' }
  | { kind: 'hold'; by: string }
  | { kind: 'release' }
  | { kind: 'fence'; by: string }
  | { kind: 'move'; group: GroupId }
  | { kind: 'remove'; reason: string }
  /** A wake ended badly: no crash, but the next repeat comes forward (DESIGN section 5). */
  | { kind: 'wakeFailed'; status: string; generation: number | null }
  /** The sweep asks whether an old slot is still this node's; a change of revision shuts out a late start. */
  | { kind: 'disclaim'; claimId: string };

export type NodeContext = { nodeId: NodeId; now: Instant; group: GroupView | null };

/** Whether deciding on this event needs the group's pause and policy; a report that changes nothing never does. */
export function needsGroup(node: NodeRecord | null, event: NodeEvent): boolean {
  if (node === null || node.removed !== null) return event.kind === 'report';
  switch (event.kind) {
    case 'start':
    case 'proceed':
    case 'release':
    case 'move':
      return true;
    case 'report':
      return (
        node.spec.state === 'PerformedUpdate' &&
        event.report.state === 'PerformedUpdate' &&
        event.report.generation === node.spec.generation
      );
    default:
      return false;
  }
}

export function decideNode(node: NodeRecord | null, event: NodeEvent, context: NodeContext): Outcome<NodeRecord> {
  if (event.kind === 'report') return decideReport(node, event.report, context);
  if (node === null || node.removed !== null) {
    return refused(404, 'NodeNotFound', `there is no node ${context.nodeId}; a node enrols itself with its first report`);
  }
  const { now } = context;
  switch (event.kind) {
    case 'due':
      return conclude(node, passTime(node, now), context);
    case 'start':
      return start(node, event, context);
    case 'proceed':
      return conclude(node, advance(node, context.group?.paused ?? true, now), context);
    case 'retry':
      return conclude(
        node,
        node.crash.retryAfter === null
          ? { node, facts: [] }
          : {
              node: { ...node, crash: { ...node.crash, retryAfter: null } },
              facts: [info('Node Retry Requested', `the wait was cleared by an operator; crash count stays ${node.crash.count}`)],
            },
        context,
      );
    case 'hold':
      return node.heldBy !== null
        ? unchanged
        : conclude(node, { node: { ...node, heldBy: event.by }, facts: [info('Node Held', `held by ${event.by}`)] }, context);
    case 'release':
      return release(node, context);
    case 'fence':
      return conclude(
        node,
        {
          node: { ...node, fencedAt: now },
          facts: [
            { kind: 'event', type: 'Node Fenced', severity: 'warning', message: `fenced by ${event.by}: its instances are taken as ended` },
            { kind: 'hostFenced', hostId: node.nodeId },
          ],
        },
        context,
      );
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

const info = (type: Extract<Fact, { kind: 'event' }>['type'], message: string): Fact => ({ kind: 'event', type, severity: 'info', message });

function decideReport(known: NodeRecord | null, report: NodeReport, context: NodeContext): Outcome<NodeRecord> {
  const { now, group } = context;
  const ours = known?.spec.generation ?? 1;
  if (report.generation !== undefined && report.generation > ours) {
    return refused(
      409,
      'GenerationAhead',
      `the report names generation ${report.generation}, ours is ${known === null ? 'none: this node is not enrolled' : ours}; the control plane may have been restored from an older copy`,
    );
  }
  if (known !== null && outOfOrder(known, report)) return unchanged;
  if (known?.removed != null && !newerThanTombstone(known, report)) return unchanged;
  const enrolling = known === null || known.removed !== null;
  const node = enrolling ? enrol(known, report, context) : known;
  const facts: Fact[] = enrolling
    ? [{ kind: 'enrolled', group: node.group }, info('Node Enrolled', `first report: ${report.currentVersion} in group ${node.group}`)]
    : [];
  if (!enrolling && report.generation !== undefined && report.generation < node.spec.generation) {
    const seen = acknowledge(node, now);
    return seen === node ? unchanged : conclude(node, { node: seen, facts: [] }, context);
  }
  const observed = observe(node, report, now);
  const judged = judge(observed, report, group?.paused ?? false, now);
  const told = acknowledge(judged.node, now);
  const outcome = conclude(node, { node: told, facts: [...facts, ...checkFailure(node, told), ...judged.facts] }, context);
  return outcome.kind === 'unchanged' && enrolling ? { kind: 'changed', next: node, facts } : outcome;
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

/** A report that is provably later than what the tombstone remembers (DESIGN section 6). */
function newerThanTombstone(node: NodeRecord, report: NodeReport): boolean {
  const { status } = node;
  if (status === null || status.bootId !== report.bootId) return true;
  return report.uptime !== undefined && (status.uptime === null || report.uptime > status.uptime);
}

/** A fresh record; over a tombstone the generation goes on from where it was. */
function enrol(tombstone: NodeRecord | null, report: NodeReport, context: NodeContext): NodeRecord {
  return newNode(context.nodeId, report.group ?? null, tombstone, context);
}

/** A node with no status yet. */
export function newNode(
  nodeId: NodeId,
  group: string | null,
  tombstone: NodeRecord | null,
  context: Pick<NodeContext, 'now' | 'group'>,
): NodeRecord {
  const { now } = context;
  const policy = context.group?.policy ?? groupPolicyOf({});
  const rebooted = tombstone?.status != null ? [...tombstone.previousBoots] : [];
  return {
    kind: 'node',
    revision: tombstone?.revision ?? 0,
    events: [],
    nodeId,
    // The contract has checked the name; a tombstone's group was checked when it was written.
    group: (group ?? tombstone?.group ?? 'default') as GroupId,
    spec: {
      state: 'Idle',
      version: null,
      generation: tombstone === null ? 1 : tombstone.spec.generation + 1,
      since: now,
      acknowledgedAt: null,
      reachedAt: null,
      nextWakeAt: null,
      wakesRepeated: 0,
    },
    status: null,
    previousBoots: rebooted,
    attempt: null,
    crash: NO_CRASH,
    blockedVersions: [],
    heldBy: null,
    waitingSince: null,
    unreachableSince: null,
    silentSince: null,
    fencedAt: null,
    wakeFailure: null,
    policy: { backoff: policy.backoff, deadlines: policy.deadlines, soak: policy.soak },
    removed: null,
  };
}

/** A claim older than this starts nothing: the sweep frees slots after two minutes (DESIGN section 7). */
const CLAIM_VALID_FOR = seconds(90);

/** Takes an update in the slot that was claimed; refused when the node is not ready, so that the slot is undone. */
function start(node: NodeRecord, event: Extract<NodeEvent, { kind: 'start' }>, context: NodeContext): Outcome<NodeRecord> {
  const { now, group } = context;
  const { claim, told } = event;
  if (claim !== null && between(claim.at, now) > CLAIM_VALID_FOR) {
    return refused(409, 'ClaimExpired', `the slot for node ${node.nodeId} was claimed too long ago`);
  }
  const may = readiness(node, now);
  const { status } = node;
  if (may.kind !== 'ready' || status === null) return refused(409, 'NodeNotReady', `node ${node.nodeId} cannot start: ${may.kind}`);
  if (group?.paused === true) return refused(409, 'GroupPaused', `group ${node.group} is paused`);
  const policy = group?.policy ?? node.policy;
  const step = moveSpec(
    { ...node, policy: { backoff: policy.backoff, deadlines: policy.deadlines, soak: policy.soak } },
    'StagedUpdate',
    may.version,
    now,
  );
  const moved: Step = { node: told ? acknowledge(step.node, now) : step.node, facts: step.facts };
  return conclude(
    node,
    {
      node: {
        ...moved.node,
        attempt: {
          claimId: claim?.claimId ?? null,
          unlimited: claim === null,
          version: may.version,
          fromVersion: status.currentVersion,
          fromBootId: status.bootId,
          startedAt: now,
          succeeded: false,
        },
      },
      facts: [
        ...moved.facts,
        info('Node Update Started', `update from ${status.currentVersion} to ${may.version ?? 'the version offered'} begins`),
      ],
    },
    context,
  );
}

function release(node: NodeRecord, context: NodeContext): Outcome<NodeRecord> {
  if (node.heldBy === null) return unchanged;
  const released = { ...node, heldBy: null };
  const step = advance(released, context.group?.paused ?? false, context.now);
  return conclude(node, { node: step.node, facts: [info('Node Released', `released (was held by ${node.heldBy})`), ...step.facts] }, context);
}

function move(node: NodeRecord, group: GroupId, context: NodeContext): Outcome<NodeRecord> {
  if (node.group === group) return unchanged;
  if (underWay(node)) {
    return refused(409, 'NodeUnderWay', `node ${node.nodeId} is under way in group ${node.group}; move it when it is Idle again`);
  }
  const policy = context.group?.policy ?? node.policy;
  const moved: NodeRecord = {
    ...node,
    group,
    waitingSince: null,
    policy: { backoff: policy.backoff, deadlines: policy.deadlines, soak: policy.soak },
  };
  return conclude(
    node,
    { node: moved, facts: [{ kind: 'enrolled', group }, info('Node Moved', `moved from group ${node.group} to ${group}`)] },
    context,
  );
}

/** Leaves a tombstone: slot freed, no crash (rule 9). */
function remove(node: NodeRecord, reason: string, context: NodeContext): Outcome<NodeRecord> {
  const ended = endAttempt(node);
  return conclude(
    node,
    {
      node: { ...ended.node, removed: { at: context.now, reason }, waitingSince: null },
      facts: [...ended.facts, info('Node Removed', reason), { kind: 'hostFenced', hostId: node.nodeId }],
    },
    context,
  );
}

function wakeFailed(node: NodeRecord, status: string, generation: number | null, context: NodeContext): Outcome<NodeRecord> {
  const { spec } = node;
  if (generation !== null && generation !== spec.generation) return unchanged;
  if (spec.nextWakeAt === null) return unchanged;
  const soon = after(context.now, SOON);
  const nextWakeAt = spec.nextWakeAt < soon ? spec.nextWakeAt : soon;
  if (node.wakeFailure?.status === status && nextWakeAt === spec.nextWakeAt) return unchanged;
  return conclude(
    node,
    { node: { ...node, spec: { ...spec, nextWakeAt }, wakeFailure: { status, at: context.now } }, facts: [] },
    context,
  );
}

/** How soon a failed wake is repeated: long enough that a host that refuses is not asked in a tight loop. */
const SOON = seconds(30);

function passTime(node: NodeRecord, now: Instant): Step {
  let step: Step = { node, facts: [] };
  const then = (change: (node: NodeRecord) => Step): void => {
    const next = change(step.node);
    step = { node: next.node, facts: [...step.facts, ...next.facts] };
  };
  then((n) => resetRecord(n, now));
  then((n) => passDeadline(n, now));
  then((n) => advance(n, true, now));
  then((n) => repeatWake(n, now));
  then((n) => noticeSilence(n, now));
  return step;
}

/** Once `resetAfter` has passed since the first crash the record is forgotten, whatever the node's state (rule 3). */
function resetRecord(node: NodeRecord, now: Instant): Step {
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
  const failed = crash(node, 'DeadlinePassed', `${spec.state} was not reached within its deadline`, now);
  return { node: { ...failed.node, unreachableSince: now }, facts: failed.facts };
}

/** The Idle deadline never counts and never makes a new generation; it marks the node and wakes it again (rule 2). */
function passIdleDeadline(node: NodeRecord, now: Instant): Step {
  const { spec } = node;
  if (spec.acknowledgedAt === null || node.unreachableSince !== null || node.status === null) return { node, facts: [] };
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
  if (now < after(node.status.reportedAt, SILENT_AFTER)) return { node, facts: [] };
  return {
    node: { ...node, silentSince: now },
    facts: [
      { kind: 'event', type: 'Node Silent', severity: 'warning', message: 'has not reported for 60 min' },
      { kind: 'hostSilent', hostId: node.nodeId },
    ],
  };
}

/** Settles the queue, gives the record its revision, and writes the events into its log. */
function conclude(before: NodeRecord, step: Step, context: NodeContext): Outcome<NodeRecord> {
  const settled = settle(before, step.node, context.now);
  const facts = dedupeFills([...step.facts, ...settled.facts]);
  if (settled.node === before && facts.length === 0) return unchanged;
  const revision = before.revision + 1;
  const events = logEvents(settled.node.events, facts, `node/${before.nodeId}`, revision, context.now);
  return { kind: 'changed', next: { ...settled.node, revision, events }, facts };
}

function dedupeFills(facts: Fact[]): Fact[] {
  const released = new Set(facts.flatMap((fact) => (fact.kind === 'slotReleased' ? [fact.group] : [])));
  let filled = false;
  return facts.filter((fact) => {
    if (fact.kind !== 'fill') return true;
    if (released.has(fact.group) || filled) return false;
    filled = true;
    return true;
  });
}
