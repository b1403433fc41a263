/** A start in a claimed slot, and what operators ask of a node (DESIGN sections 2 and 6). */
import { type Outcome, refused, unchanged } from '../decision/fact.ts';
import type { GroupId } from '../kit/ids.ts';
import { type NodePolicy, nodePolicyOf } from '../policy/group-policy.ts';
import { after, between, type Instant, seconds } from '../kit/time.ts';
import { advance } from './advance.ts';
import { conclude, info } from './conclude.ts';
import type { NodeContext, NodeEvent } from './event.ts';
import { withBlockers } from './maintenance.ts';
import { readiness } from './readiness.ts';
import { acknowledge } from './report.ts';
import { type NodeRecord, underWay } from './record.ts';
import { endAttempt, moveSpec, type Step } from './spec.ts';

/** A claim older than this starts nothing: the sweep frees slots after two minutes (DESIGN section 7). */
const CLAIM_VALID_FOR = seconds(90);

/** Takes an update in the slot that was claimed; refused when the node is not ready, so that the slot is undone. */
export function start(
  node: NodeRecord,
  event: Extract<NodeEvent, { kind: 'start' }>,
  context: NodeContext,
): Outcome<NodeRecord> {
  const { now, group } = context;
  const { claim, told } = event;
  if (claim !== null && between(claim.at, now) > CLAIM_VALID_FOR) {
    return refused(409, 'ClaimExpired', `the slot for node ${node.nodeId} was claimed too long ago`);
  }
  const may = readiness(node, now);
  const { status } = node;
  if (may.kind !== 'ready' || status === null)
    return refused(409, 'NodeNotReady', `node ${node.nodeId} cannot start: ${may.kind}`);
  if (group?.paused === true) return refused(409, 'GroupPaused', `group ${node.group} is paused`);
  const policy = policyFor(node, context);
  const step = moveSpec({ ...node, policy }, 'StagedUpdate', may.version, now);
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
        info(
          'Node Update Started',
          `update from ${status.currentVersion} to ${may.version ?? 'the version offered'} begins`,
        ),
      ],
    },
    context,
  );
}

/** The group's policy, as the node carries it from here on. */
const policyFor = (node: NodeRecord, { group }: NodeContext): NodePolicy =>
  group === null ? node.policy : nodePolicyOf(group.policy);

export function release(node: NodeRecord, context: NodeContext): Outcome<NodeRecord> {
  if (node.heldBy === null) return unchanged;
  const released = withBlockers({ ...node, heldBy: null }, context);
  const step = advance(released, context.group?.paused ?? false, context.now);
  return conclude(
    node,
    { node: step.node, facts: [info('Node Released', `released (was held by ${node.heldBy})`), ...step.facts] },
    context,
  );
}

export function move(node: NodeRecord, group: GroupId, context: NodeContext): Outcome<NodeRecord> {
  if (node.group === group) return unchanged;
  if (underWay(node)) {
    return refused(
      409,
      'NodeUnderWay',
      `node ${node.nodeId} is under way in group ${node.group}; move it when it is Idle again`,
    );
  }
  const policy = policyFor(node, context);
  const moved: NodeRecord = {
    ...node,
    group,
    waitingSince: null,
    policy,
  };
  return conclude(
    node,
    {
      node: moved,
      facts: [{ kind: 'enrolled', group }, info('Node Moved', `moved from group ${node.group} to ${group}`)],
    },
    context,
  );
}

/** Leaves a tombstone: slot freed, no crash (rule 9). */
export function remove(node: NodeRecord, reason: string, context: NodeContext): Outcome<NodeRecord> {
  const ended = endAttempt(node);
  return conclude(
    node,
    {
      node: { ...ended.node, removed: { at: context.now, reason }, waitingSince: null },
      facts: [...ended.facts, info('Node Removed', reason)],
    },
    context,
  );
}

export function wakeFailed(
  node: NodeRecord,
  status: string,
  generation: number | null,
  context: NodeContext,
): Outcome<NodeRecord> {
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

export function fence(node: NodeRecord, by: string, context: NodeContext): Outcome<NodeRecord> {
  return conclude(
    node,
    {
      node: { ...node, fencedAt: context.now, untold: { kind: 'hostFenced', at: context.now } },
      facts: [
        {
          kind: 'event',
          type: 'Node Fenced',
          severity: 'warning',
          message: `fenced by ${by}: its instances are taken as ended`,
        },
        { kind: 'hostFenced', hostId: node.nodeId, at: context.now },
      ],
    },
    context,
  );
}

/** All VMs of the host know; what has become of it since they are told by somebody else. */
export function told(node: NodeRecord, at: Instant): Outcome<NodeRecord> {
  if (node.untold?.at !== at) return unchanged;
  return { kind: 'changed', next: { ...node, untold: null, revision: node.revision + 1 }, facts: [] };
}

/** Clears the wait and keeps the count. */
export function retry(node: NodeRecord, context: NodeContext): Outcome<NodeRecord> {
  if (node.crash.retryAfter === null) return conclude(node, { node, facts: [] }, context);
  const message = `the wait was cleared by an operator; crash count stays ${node.crash.count}`;
  return conclude(
    node,
    { node: { ...node, crash: { ...node.crash, retryAfter: null } }, facts: [info('Node Retry Requested', message)] },
    context,
  );
}

export function hold(node: NodeRecord, by: string, context: NodeContext): Outcome<NodeRecord> {
  if (node.heldBy !== null) return unchanged;
  return conclude(node, { node: { ...node, heldBy: by }, facts: [info('Node Held', `held by ${by}`)] }, context);
}
