/** Who of a group is next (DESIGN section 2 rule 4). */
import type { NodeRecord } from '../node/record.ts';
import { queueKey } from '../node/queue.ts';
import { mayClaim } from '../rollout/gates.ts';
import { orderOf } from '../rollout/queue-choice.ts';
import type { Instant } from '../kit/time.ts';
import type { GroupView } from './view.ts';

/**
 * Of the nodes proposed those that lack nothing but a slot, in the order in which they get one. Whoever waits for
 * something else is passed over, so that it hides nobody who stands behind it.
 */
export function nextInQueue(proposed: readonly NodeRecord[], group: GroupView, now: Instant): NodeRecord[] {
  const { policy } = group.rollout;
  return proposed
    .filter((node) => node.group === group.group && mayClaim(node, group, now))
    .sort((a, b) => orderOf(a.nodeId, policy) - orderOf(b.nodeId, policy) || compareKeys(a, b));
}

const compareKeys = (a: NodeRecord, b: NodeRecord): number =>
  (queueKey(a) ?? a.nodeId) < (queueKey(b) ?? b.nodeId) ? -1 : 1;
