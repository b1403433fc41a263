/** The phase of a node as its record alone tells it, for a line of an index: the group and the clock are asked later. */
import type { NodePhase } from '../contract/words.ts';
import { givenUp } from './given-up.ts';
import { offerOf } from './offer.ts';
import { isRecovering } from './phase.ts';
import { type NodeRecord, waitsStaged } from './record.ts';
import { isStopped } from './signs.ts';

/** `Queued` of one that could start, or go on from waiting staged, as far as its own record says. */
export function stageOf(node: NodeRecord): NodePhase {
  if (isStopped(node)) return node.heldBy === null ? 'Idle' : 'Held';
  if (node.unreachableSince !== null) return 'Unreachable';
  if (isRecovering(node)) return node.attempt?.succeeded === true ? 'Monitoring' : 'Recovering';
  if (waitsStaged(node)) return node.heldBy === null ? 'Queued' : 'Held';
  if (node.heldBy !== null) return 'Held';
  if (node.spec.state === 'MonitoringUpdate') return 'Monitoring';
  if (node.spec.state !== 'Idle') return 'Updating';
  const offer = offerOf(node);
  if (offer.kind !== 'newer') return 'Idle';
  if (givenUp(node, node.policy.backoff)) return 'BackingOff';
  return offer.version !== null && node.blockedVersions.includes(offer.version) ? 'Idle' : 'Queued';
}
