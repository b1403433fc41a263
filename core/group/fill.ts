/** Who of a group is next (DESIGN section 2 rule 4). */
import type { NodeRecord } from '../node/record.ts';
import { queueKey } from '../node/queue.ts';
import { mayClaim } from '../rollout/gates.ts';
import type { Instant } from '../kit/time.ts';
import type { GroupView } from './view.ts';

/**
 * Of the nodes proposed those that lack nothing but a slot, in the order in which they get one. Whoever waits for
 * something else is passed over, so that it hides nobody who stands behind it.
 */
export function nextInQueue(proposed: readonly NodeRecord[], group: GroupView, now: Instant): NodeRecord[] {
  return proposed
    .filter((node) => node.group === group.group && mayClaim(node, group, now))
    .sort((a, b) => ((queueKey(a) ?? a.nodeId) < (queueKey(b) ?? b.nodeId) ? -1 : 1));
}
