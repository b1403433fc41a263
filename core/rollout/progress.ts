/** How far a group is with each version that its members run or are offered (DESIGN section 2b, group JSON). */
import type { Instant } from '../kit/time.ts';
import type { Member } from './settling.ts';
import { sameVersion } from './version-rules.ts';

export type VersionCount = { done: number; underWay: number; waiting: number; failed: number };
export type RolloutCount = { at: Instant; target: Readonly<Record<string, VersionCount>> };

/** What a count needs to know of a member beside what settling does. */
export type Counted = Member & { offered: string | null };

/** So many versions are shown: those that most members are on their way to, or run. */
const VERSIONS_SHOWN = 20;

export function countProgress(members: readonly Counted[], now: Instant): RolloutCount {
  const target = new Map<string, VersionCount>();
  for (const member of members) {
    const version = member.offered ?? member.version;
    const count = target.get(version) ?? { done: 0, underWay: 0, waiting: 0, failed: 0 };
    target.set(version, count);
    count[kindOf(member)] += 1;
  }
  const total = (count: VersionCount): number => count.done + count.underWay + count.waiting + count.failed;
  const shown = [...target].sort(([a, x], [b, y]) => total(y) - total(x) || (a < b ? -1 : 1)).slice(0, VERSIONS_SHOWN);
  return { at: now, target: Object.fromEntries(shown) };
}

function kindOf({ version, offered, underWay, crashedTowards }: Counted): keyof VersionCount {
  const target = offered ?? version;
  if (underWay) return 'underWay';
  if (offered === null || sameVersion(version, offered)) return 'done';
  return crashedTowards.some((other) => sameVersion(other, target)) ? 'failed' : 'waiting';
}
