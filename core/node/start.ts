/** A slot was claimed for the node: an Idle one starts, a staged one goes on (DESIGN sections 2 and 2b). */
import { info, type Outcome, refused } from '../decision/fact.ts';
import type { GroupView } from '../group/view.ts';
import { between, seconds } from '../kit/time.ts';
import { nodePolicyOf } from '../policy/group-policy.ts';
import { mayClaim } from '../rollout/gates.ts';
import { acknowledge } from './acknowledge.ts';
import { withBlockers } from './blockers.ts';
import { conclude } from './conclude.ts';
import type { NodeContext, NodeEvent } from './event.ts';
import { goOn, letOn } from './go-on.ts';
import { offerOf } from './offer.ts';
import { type Attempt, type NodeRecord, waitsStaged } from './record.ts';
import { moveSpec, type Step } from './spec.ts';
import { waitsFor } from './waits-for.ts';

type Start = Extract<NodeEvent, { kind: 'start' }>;

/** A claim older than this starts nothing: the sweep frees slots after two minutes (DESIGN section 7). */
const CLAIM_VALID_FOR = seconds(90);

/** Refused when the node lacks more than a slot, so that the slot is undone. */
export function start(known: NodeRecord, event: Start, context: NodeContext): Outcome<NodeRecord> {
  const { now, group, blockers } = context;
  const { claim, told } = event;
  const node = withBlockers(known, blockers);
  if (claim !== null && between(claim.at, now) > CLAIM_VALID_FOR) {
    return refused(409, 'ClaimExpired', `the slot for node ${node.nodeId} was claimed too long ago`);
  }
  if (group === null || !mayClaim(node, group, now)) {
    const [first] = group === null ? [] : waitsFor(node, group, now).filter(({ code }) => code !== 'NoSlot');
    const why = first === undefined ? offerOf(node).kind : first.code;
    return refused(409, 'NodeNotReady', `node ${node.nodeId} cannot start: ${why}`);
  }
  const step = waitsStaged(node) ? resume(node, event, group, context) : begin(node, event, group, context);
  return conclude(known, { node: told ? acknowledge(step.node, now) : step.node, facts: step.facts }, context);
}

const slotOf = ({ claim }: Start): Pick<Attempt, 'claimId' | 'unlimited'> => ({
  claimId: claim?.claimId ?? null,
  unlimited: claim === null,
});

function begin(node: NodeRecord, event: Start, group: GroupView, { now }: NodeContext): Step {
  const offer = offerOf(node);
  const version = offer.kind === 'newer' ? offer.version : null;
  const { status } = node;
  const fromVersion = status?.currentVersion ?? '';
  const policy = nodePolicyOf(group.policy);
  const moved = moveSpec({ ...node, policy, refusedOffer: null }, 'StagedUpdate', version, now);
  const attempt: Attempt = {
    ...slotOf(event),
    version,
    fromVersion,
    fromBootId: status?.bootId ?? '',
    startedAt: now,
    succeeded: false,
  };
  const said = `update from ${fromVersion} to ${version ?? 'the version offered'} begins`;
  return { node: { ...moved.node, attempt }, facts: [...moved.facts, info('Node Update Started', said)] };
}

/** The claim is stored in the node; it is told at once where its own report is being answered, else it is woken. */
function resume(node: NodeRecord, event: Start, group: GroupView, { now }: NodeContext): Step {
  if (node.attempt === null) return { node, facts: [] };
  const attempt = { ...node.attempt, ...slotOf(event) };
  const claimed = { ...node, attempt };
  return event.told ? goOn(claimed, group, now) : letOn(claimed, attempt, now);
}
