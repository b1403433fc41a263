/** What a decision about a rollout asks of other items (DESIGN section 2b): read only where the policy asks for it. */
import type { GroupRecord } from '../../core/group/record.ts';
import type { Instant } from '../../core/kit/time.ts';
import type { GroupPolicy } from '../../core/policy/group-policy.ts';
import type { Outside } from '../../core/rollout/view.ts';
import type { ControlPlane } from '../ports.ts';

/** @param versions whose age may be asked for */
export async function outsideOf(
  plane: ControlPlane,
  { rollout }: GroupPolicy,
  versions: readonly (string | null | undefined)[] = [],
): Promise<Outside> {
  const { after, version } = rollout;
  const before = after === null ? null : await beforeOf(plane, after.group);
  if (version.minVersionAge === 0) return { before };
  const firstSeen = new Map<string, Instant>();
  for (const asked of new Set(versions)) {
    if (asked == null) continue;
    firstSeen.set(asked, await firstSeenOf(plane, asked));
  }
  return { before, firstSeen };
}

async function beforeOf(plane: ControlPlane, group: GroupRecord['group']): Promise<GroupRecord | null> {
  return (await plane.store.load('group', group))?.record ?? null;
}

/** A write that was lost is made here: the version is new as of now, which errs on the side of waiting. */
async function firstSeenOf(plane: ControlPlane, version: string): Promise<Instant> {
  const seen = await plane.store.firstSeen(version);
  if (seen !== null) return seen;
  const now = plane.now();
  await plane.store.noteSeen(version, now);
  return now;
}
