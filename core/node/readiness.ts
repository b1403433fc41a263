import { sayDuration, type Instant, between, formatInstant } from '../kit/time.ts';
import type { NodeRecord } from './record.ts';
import { isStopped } from './signs.ts';

/** Why a node does not start an update now; `ready` when it lacks nothing but a slot. */
export type Readiness =
  | { kind: 'ready'; version: string | null }
  | { kind: 'removed' }
  | { kind: 'notReported' }
  | { kind: 'stopped' }
  | { kind: 'underWay' }
  | { kind: 'recovering' }
  | { kind: 'held'; by: string }
  | { kind: 'checkFailed'; message: string }
  | { kind: 'upToDate' }
  | { kind: 'blocked'; version: string }
  | { kind: 'backingOff'; until: Instant };

/** The one rule about who may start; the decision and the explanation both read it. */
export function readiness(node: NodeRecord, now: Instant): Readiness {
  if (node.removed !== null) return { kind: 'removed' };
  if (isStopped(node)) return { kind: 'stopped' };
  if (node.status === null) return { kind: 'notReported' };
  if (node.attempt !== null || node.spec.state !== 'Idle') return { kind: 'underWay' };
  if (node.spec.reachedAt === null || node.status.state !== 'Idle') return { kind: 'recovering' };
  if (node.heldBy !== null) return { kind: 'held', by: node.heldBy };
  const { retryAfter } = node.crash;
  if (retryAfter !== null && now < retryAfter) return { kind: 'backingOff', until: retryAfter };
  const check = node.status.updateCheck;
  if (check.result === 'Failed') return { kind: 'checkFailed', message: check.message ?? 'no message' };
  const version = check.version ?? null;
  if (check.result === 'UpToDate' || version === node.status.currentVersion) return { kind: 'upToDate' };
  if (version !== null && node.blockedVersions.includes(version)) return { kind: 'blocked', version };
  return { kind: 'ready', version };
}

/** The order of a group's queue: lowest crash count, then the longest waiting, then the lowest id (rule 4). */
export function queueKey(node: NodeRecord): string | null {
  if (node.waitingSince === null) return null;
  const count = String(Math.min(node.crash.count, 99_999_999)).padStart(8, '0');
  const since = String(Math.max(0, node.waitingSince)).padStart(15, '0');
  return `${count}#${since}#${node.nodeId}`;
}

/** "in 12 s (at 2026-…)", or "now". */
export const sayWhen = (at: Instant, now: Instant): string =>
  at <= now ? 'now' : `in ${sayDuration(between(now, at))} (at ${formatInstant(at)})`;
