/** Which versions a group's policy lets its nodes take, and since when a version is known (DESIGN section 2b, Version). */
import { after, type Instant } from '../kit/time.ts';
import { compareVersions } from '../kit/version-order.ts';
import type { VersionPolicy } from '../policy/rollout.ts';

/** Why an offer is no target of this group, in words; null when it is one. */
export function whyNotAllowed(policy: VersionPolicy, offered: string, running: string): string | null {
  const { pin, skip, allowDowngrade } = policy;
  if (pin !== null && !sameVersion(offered, pin)) return `its group is pinned to ${pin}, and ${offered} is offered`;
  if (skip.some((version) => sameVersion(version, offered))) return `its group skips ${offered}`;
  if (!allowDowngrade && compareVersions(offered, running) === -1) {
    return `${offered} is older than ${running}, which runs, and its group allows no downgrade`;
  }
  return null;
}

/** `v1.21.0` and `1.21.0` are one version; what has no order is compared as text. */
export const sameVersion = (a: string, b: string): boolean => a === b || compareVersions(a, b) === 0;

/** Until when a version is too young; null when it is old enough. One that nobody has seen yet was seen now. */
export function tooYoungUntil(policy: VersionPolicy, firstSeen: Instant | null, now: Instant): Instant | null {
  const oldEnough = after(firstSeen ?? now, policy.minVersionAge);
  return oldEnough > now ? oldEnough : null;
}
