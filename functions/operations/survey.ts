/** One look at all members of a group, from the index alone (DESIGN section 2b): in each sweep. */
import type { GroupRecord } from '../../core/group/record.ts';
import type { Duration } from '../../core/kit/time.ts';
import type { GroupPolicy } from '../../core/policy/group-policy.ts';
import { crashesOf, survey } from '../../core/rollout/survey.ts';
import type { ControlPlane } from '../ports.ts';
import { turnGroup } from './groups.ts';

/** @param soak the shortest for which a group waits that comes after this one; null: none does */
export async function surveyGroup(
  plane: ControlPlane,
  own: GroupRecord,
  { rollout }: GroupPolicy,
  soak: Duration | null,
): Promise<void> {
  const lines = await plane.store.members(own.group);
  const members = lines.flatMap(({ digest }) => digest ?? []);
  const now = plane.now();
  const { breaker } = rollout;
  if (breaker !== null) {
    const crashes = crashesOf(members, now);
    if (crashes.length > 0) await turnGroup(plane, own.group, { kind: 'crashed', breaker, crashes });
  }
  const found = survey(own, { members, total: lines.length, soak }, now);
  await turnGroup(plane, own.group, { kind: 'surveyed', ...found });
}
