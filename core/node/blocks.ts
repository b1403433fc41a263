/** Versions that are not tried on a node again (DESIGN section 2 rule 5). */
import { after, hours, type Instant } from '../kit/time.ts';
import type { NodeRecord } from './record.ts';

/** A block ends by itself, also where the policy never forgets a crash. */
const BLOCKED_FOR = hours(24);

/** Since when a version is blocked; what was stored without the instant counts from the last crash. */
const blockedAt = ({ blockedAt: known, crash }: NodeRecord, version: string): Instant | null =>
  known?.[version] ?? crash.lastAt;

/** The block of a version, and when it ends; null when there is none (any more). */
export function blockOf(node: NodeRecord, version: string, now: Instant): { until: Instant | null } | null {
  if (!node.blockedVersions.includes(version)) return null;
  const at = blockedAt(node, version);
  const until = at === null ? null : after(at, BLOCKED_FOR);
  return until !== null && until <= now ? null : { until };
}

/** Blocks a version from now on. */
export function block(node: NodeRecord, version: string | null, now: Instant): NodeRecord {
  if (version === null) return node;
  const blockedVersions = node.blockedVersions.includes(version)
    ? node.blockedVersions
    : [...node.blockedVersions, version];
  return { ...node, blockedVersions, blockedAt: { ...node.blockedAt, [version]: now } };
}

/** The versions still blocked. */
export const blockedNow = (node: NodeRecord, now: Instant): string[] =>
  node.blockedVersions.filter((version) => blockOf(node, version, now) !== null);

/** Forgets the blocks that have ended; the same node when there is none. */
export function dropEnded(node: NodeRecord, now: Instant): NodeRecord {
  const blockedVersions = blockedNow(node, now);
  return blockedVersions.length === node.blockedVersions.length ? node : { ...node, blockedVersions };
}

/** When the block of a version ends. */
export const blockEnds = (node: NodeRecord, version: string): Instant | null => {
  const at = node.blockedVersions.includes(version) ? blockedAt(node, version) : null;
  return at === null ? null : after(at, BLOCKED_FOR);
};
