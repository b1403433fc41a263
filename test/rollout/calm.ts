import { newGroup } from '../../core/group/record.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import type { Instant } from '../../core/kit/time.ts';
import type { GroupPolicy } from '../../core/policy/group-policy.ts';
import { type RolloutView, viewRollout } from '../../core/rollout/view.ts';

/** The rollout of a group in which nothing has happened yet, so that its policy alone decides. */
export const calmRollout = (policy: GroupPolicy, now: Instant): RolloutView =>
  viewRollout(newGroup(DEFAULT_GROUP), policy, now, {});
