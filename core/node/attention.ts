/** Why a person should look at a node (DESIGN section 6): by its record alone, so that an index can carry it. */
import type { Attention } from '../contract/answer-parts.ts';
import { sayCause } from '../kit/cause.ts';
import { givenUp } from './given-up.ts';
import { sayUnexpected } from './host-word.ts';
import { isRecovering } from './phase.ts';
import type { NodeRecord } from './record.ts';
import { isStopped } from './signs.ts';
import { inCrashLoop } from './timing.ts';

/** The first, in the order of attention; null: no reason. */
export function nodeAttention(node: NodeRecord): Attention | null {
  const { crash, status } = node;
  if (node.removed !== null) return null;
  if (node.unreachableSince !== null)
    return { code: 'Unreachable', cause: sayCause(`on its way to ${node.spec.state}`) };
  if (node.silentSince !== null) return { code: 'Silent', cause: '' };
  const crashed = sayCause(crash.lastReason, crash.lastMessage);
  if (givenUp(node, node.policy.backoff)) return { code: 'GaveUp', cause: crashed };
  if (inCrashLoop(node)) return { code: 'CrashLoop', cause: crashed };
  if (node.blockedVersions.length > 0)
    return { code: 'VersionBlocked', cause: sayCause(node.blockedVersions.join(', ')) };
  if (crash.count > 0 && !isStopped(node)) return { code: 'Crashed', cause: crashed };
  if (isRecovering(node) && node.attempt?.succeeded !== true && !isStopped(node))
    return { code: 'Recovering', cause: sayCause(node.attempt?.withdrawn ?? null) };
  const unexpected = sayUnexpected(node);
  if (unexpected !== null) return { code: 'Unexpected', cause: sayCause(unexpected) };
  if (node.heldBy !== null) return { code: 'Held', cause: sayCause(`by ${node.heldBy}`) };
  const check = status?.updateCheck;
  return check?.result === 'Failed' ? { code: 'UpdateCheckFailed', cause: sayCause(check.message ?? null) } : null;
}
