/** What operators ask of a node (DESIGN sections 2 and 6). */
import { mayNode, type NodeState } from '../contract/can.ts';
import { type Fact, info, type Outcome, refused, unchanged } from '../decision/fact.ts';
import type { GroupId } from '../kit/ids.ts';
import type { Instant } from '../kit/time.ts';
import { nodePolicyOf } from '../policy/group-policy.ts';
import { withBlockers } from './blockers.ts';
import { conclude } from './conclude.ts';
import type { NodeContext, NodeEvent } from './event.ts';
import { reconsider } from './go-on.ts';
import { offerOf } from './offer.ts';
import { type NodeRecord, rebootDecided, underWay, waitsStaged } from './record.ts';
import { endAttempt, giveUpSlot, type Step, withdraw } from './spec.ts';

export function release(node: NodeRecord, context: NodeContext): Outcome<NodeRecord> {
  if (node.heldBy === null) return unchanged;
  const { group, blockers, now } = context;
  const released = withBlockers({ ...node, heldBy: null }, blockers);
  const step = group === null ? { node: released, facts: [] } : reconsider(released, group, now);
  return conclude(
    node,
    { node: step.node, facts: [info('Node Released', `released (was held by ${node.heldBy})`), ...step.facts] },
    context,
  );
}

/** What the table of verbs judges by. */
export const verbState = (node: NodeRecord): NodeState => ({
  nodeId: node.nodeId,
  group: node.group,
  underWay: underWay(node),
});

export function move(node: NodeRecord, group: GroupId, context: NodeContext): Outcome<NodeRecord> {
  if (node.group === group) return unchanged;
  const no = mayNode('move', verbState(node));
  if (no !== null) return refused(409, no.code, no.detail);
  const policy = context.group === null ? node.policy : nodePolicyOf(context.group.policy);
  const moved: NodeRecord = { ...node, group, waitingSince: null, policy };
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

/**
 * Ends the waits of the node's own record: the back-off, having given up, its blocked versions and the wait after an offer
 * it refused. The count stays; whatever else forbids a start still stands, and the answer says it (DESIGN section 2b).
 */
export function retry(node: NodeRecord, context: NodeContext): Outcome<NodeRecord> {
  const { crash, blockedVersions, refusedOffer } = node;
  const waits = crash.retryAfter !== null || (crash.count > 0 && crash.waived !== true);
  const fill: Fact[] = offerOf(node).kind === 'newer' ? [{ kind: 'fill', group: node.group }] : [];
  if (!waits && blockedVersions.length === 0 && refusedOffer == null)
    return conclude(node, { node, facts: fill }, context);
  const { blockedAt: _lifted, ...rest } = node;
  const next: NodeRecord = {
    ...rest,
    crash: crash.count === 0 ? crash : { ...crash, retryAfter: null, waived: true },
    blockedVersions: [],
    refusedOffer: null,
  };
  const lifted = blockedVersions.length === 0 ? '' : `; ${blockedVersions.join(', ')} may be tried again`;
  const message = `the wait was cleared by an operator; crash count stays ${crash.count}${lifted}`;
  return conclude(node, { node: next, facts: [info('Node Retry Requested', message), ...fill] }, context);
}

/**
 * Nothing new starts, nothing staged is activated, and what is activated is withdrawn in this very write; with `withdraw`
 * what is staged, too (DESIGN section 2 rule 6).
 */
export function hold(
  node: NodeRecord,
  { by, withdraw: gives = false }: Extract<NodeEvent, { kind: 'hold' }>,
  context: NodeContext,
): Outcome<NodeRecord> {
  if (gives && rebootDecided(node)) {
    return refused(
      409,
      'RebootDecided',
      `node ${node.nodeId} has been told to reboot into ${node.spec.version ?? 'its update'}: that is finished, and nothing was held`,
    );
  }
  const holder = node.heldBy ?? by;
  const said = node.heldBy === null ? [info('Node Held', `held by ${by}`)] : [];
  const stopped = stop({ ...node, heldBy: holder }, holder, gives, context);
  if (node.heldBy !== null && stopped.facts.length === 0) return unchanged;
  return conclude(node, { node: stopped.node, facts: [...said, ...stopped.facts] }, context);
}

/** What a hold does to an attempt. */
function stop(node: NodeRecord, by: string, gives: boolean, { now }: NodeContext): Step {
  const { attempt, spec } = node;
  if (attempt === null) return { node, facts: [] };
  if (spec.state === 'PerformedUpdate' || (gives && spec.state === 'StagedUpdate'))
    return withdraw(node, `held by ${by}`, now);
  if (!waitsStaged(node)) return { node, facts: [] };
  const waits = { ...attempt, stagedSince: attempt.stagedSince ?? now, letOnAt: null };
  return giveUpSlot({ ...node, attempt: waits, spec: { ...spec, nextWakeAt: null } });
}

/** Told with its next answer; an attempt that is under way keeps its version, and the gates judge that. */
export function pin(node: NodeRecord, version: string | null, context: NodeContext): Outcome<NodeRecord> {
  const { pin: known = null, ...policy } = node.policy;
  if (known === version) return unchanged;
  return conclude(
    node,
    { node: { ...node, policy: { ...policy, ...(version === null ? {} : { pin: version }) } }, facts: [] },
    context,
  );
}
