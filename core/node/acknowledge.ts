/** A spec that is given in an answer to the node's own report (DESIGN section 2 rule 2). */
import type { Instant } from '../kit/time.ts';
import type { NodeRecord } from './record.ts';

/** The spec is about to be given in an answer to the node's report: its deadline runs from now. */
export function acknowledge(node: NodeRecord, now: Instant): NodeRecord {
  if (node.spec.acknowledgedAt !== null) return node;
  const keepsWaking = node.spec.state === 'Idle' && node.spec.reachedAt === null;
  return {
    ...node,
    spec: { ...node.spec, acknowledgedAt: now, nextWakeAt: keepsWaking ? node.spec.nextWakeAt : null },
  };
}
