/** A node's place in its group's queue. */
import type { Fact } from '../decision/fact.ts';
import type { Instant } from '../kit/time.ts';
import { queues } from '../rollout/gates.ts';
import { type NodeRecord, waitsStaged } from './record.ts';

/**
 * The order of a group's queue: who waits staged, then the lowest crash count, then the longest waiting, then the lowest
 * id (DESIGN section 2 rule 4); null when the node is not in it.
 */
export function queueKey(node: NodeRecord): string | null {
  if (node.waitingSince === null) return null;
  const since = String(Math.max(0, node.waitingSince)).padStart(15, '0');
  // A hyphen is sorted before every digit.
  if (waitsStaged(node)) return `-#${since}#${node.nodeId}`;
  const count = String(Math.min(node.crash.count, 99_999_999)).padStart(8, '0');
  return `${count}#${since}#${node.nodeId}`;
}

/**
 * Whether the node stands in the queue from now on; who comes into it, moves up in it, or is offered another version,
 * asks for a fill.
 */
export function requeue(before: NodeRecord, node: NodeRecord, now: Instant): { node: NodeRecord; facts: Fact[] } {
  const waitingSince = queues(node, now) ? (node.waitingSince ?? now) : null;
  const placed = waitingSince === node.waitingSince ? node : { ...node, waitingSince };
  const key = queueKey(placed);
  const otherOffer = before.status?.updateCheck.version !== node.status?.updateCheck.version;
  const asks = key !== null && (queueKey(before) !== key || before.group !== node.group || otherOffer);
  return { node: placed, facts: asks ? [{ kind: 'fill', group: node.group }] : [] };
}
