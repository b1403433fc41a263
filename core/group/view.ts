/** What a decision about a node, and its explanation, need to know of its group. */
import type { GroupId } from '../kit/ids.ts';
import type { Instant } from '../kit/time.ts';
import type { GroupPolicy } from '../policy/group-policy.ts';
import { type Outside, type RolloutView, viewRollout } from '../rollout/view.ts';
import { type GroupRecord, policyInForce } from './record.ts';
import { type Slots, slotsOf } from './slots.ts';

export type GroupView = {
  group: GroupId;
  /** False: it has default's policy. */
  declared: boolean;
  policy: GroupPolicy;
  /** When that policy was put. */
  putAt: Instant | null;
  pausedBy: string | null;
  slots: Slots;
  rollout: RolloutView;
};

/**
 * @param fallback the group default, whose policy holds while a group is not declared
 * @param outside what stands in other items, where the policy asks for it
 */
export function viewGroup(own: GroupRecord, fallback: GroupRecord, now: Instant, outside: Outside = {}): GroupView {
  const policy = policyInForce(own, fallback);
  return {
    group: own.group,
    declared: own.body !== null,
    policy,
    putAt: (own.body === null ? fallback : own).putAt ?? null,
    pausedBy: own.pausedBy,
    slots: slotsOf(own, fallback, policy, now),
    rollout: viewRollout(own, policy, now, outside),
  };
}
