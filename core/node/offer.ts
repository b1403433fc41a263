/** What a node could take, and whether it is in a state to. */
import type { NodeRecord } from './record.ts';
import { isStopped } from './signs.ts';

export type Offer =
  /** Idle, and something newer is offered: the gates of DESIGN section 2b decide. */
  | { kind: 'newer'; version: string | null }
  | { kind: 'removed' }
  | { kind: 'notReported' }
  | { kind: 'stopped' }
  | { kind: 'underWay' }
  | { kind: 'recovering' }
  | { kind: 'checkFailed'; message: string }
  | { kind: 'upToDate' };

export function offerOf(node: NodeRecord): Offer {
  if (node.removed !== null) return { kind: 'removed' };
  if (isStopped(node)) return { kind: 'stopped' };
  if (node.status === null) return { kind: 'notReported' };
  if (node.attempt !== null || node.spec.state !== 'Idle') return { kind: 'underWay' };
  if (node.spec.reachedAt === null || node.status.state !== 'Idle') return { kind: 'recovering' };
  const { updateCheck: check, currentVersion } = node.status;
  if (check.result === 'Failed') return { kind: 'checkFailed', message: check.message ?? 'no message' };
  const version = check.version ?? null;
  if (check.result === 'UpToDate' || version === currentVersion) return { kind: 'upToDate' };
  return { kind: 'newer', version };
}
