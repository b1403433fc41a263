/** Who of a queue is worth looking at, judged from the index: who may not start hides nobody behind it (DESIGN section 2b). */
import type { GroupView } from '../group/view.ts';
import type { NodeId } from '../kit/ids.ts';
import { earliest, type Instant } from '../kit/time.ts';
import type { Digest } from '../node/digest.ts';
import type { RolloutPolicy } from '../policy/rollout.ts';
import { isExpedited } from './expedited.ts';
import { promoted } from './settling.ts';
import { sameVersion, tooYoungUntil, whyNotAllowed } from './version-rules.ts';

type Line = { nodeId: NodeId; digest: Digest | null };

/** Whether anything in the policy passes nodes over or puts them in another order; else the first of the queue are enough. */
export const choosesByIndex = ({ rollout }: GroupView): boolean => {
  const { policy, breakers, before } = rollout;
  const { pin, skip, minVersionAge } = policy.version;
  const versions = pin !== null || skip.length > 0 || minVersionAge > 0 || breakers.length > 0 || before !== null;
  return versions || hasOrder(policy) || policy.spreadOverZones;
};

const hasOrder = ({ order }: RolloutPolicy): boolean => order.first.length + order.last.length > 0;

/** The place of a line in the order of the policy (first, others, last); null: its version is no target now. */
export function placeOf({ nodeId, digest }: Line, { rollout }: GroupView, now: Instant): number | null {
  if (digest !== null && digest.offered !== null && !mayTake(digest.offered, digest.version, rollout, now)) return null;
  return orderOf(nodeId, rollout.policy);
}

export function orderOf(nodeId: NodeId, { order }: RolloutPolicy): number {
  if (order.first.includes(nodeId)) return 0;
  return order.last.includes(nodeId) ? 2 : 1;
}

/** When the first of the versions offered may be taken that is only too young, or not settled for long enough; null: never by itself. */
export function nextOfAge(offered: readonly string[], rollout: GroupView['rollout'], now: Instant): Instant | null {
  const { policy, before, expedited, firstSeen } = rollout;
  return earliest(
    offered.map((version) => {
      if (isExpedited(expedited, version)) return null;
      const young = tooYoungUntil(policy.version, firstSeen.get(version) ?? null, now);
      if (young !== null || before === null) return young;
      const answer = promoted(before.settled, version, before.soak, now);
      return answer.may ? null : answer.until;
    }),
  );
}

function mayTake(offered: string, running: string, rollout: GroupView['rollout'], now: Instant): boolean {
  const { policy, breakers, before, expedited, firstSeen } = rollout;
  if (whyNotAllowed(policy.version, offered, running) !== null) return false;
  if (breakers.some(({ version }) => sameVersion(version, offered))) return false;
  if (isExpedited(expedited, offered)) return true;
  const seen = firstSeen.get(offered);
  if (seen !== undefined && tooYoungUntil(policy.version, seen, now) !== null) return false;
  return before === null || promoted(before.settled, offered, before.soak, now).may;
}
