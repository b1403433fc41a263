import { sayWhen } from '../kit/time.ts';
import { blockOf } from '../node/blocks.ts';
import { HEALTH_CHECK_FAILED } from '../policy/monitor.ts';
import type { NodeRecord } from '../node/record.ts';
import type { OwnGate } from './gate.ts';

/** This node booted back from the version, or failed its health checks there (DESIGN section 2 rule 5). */
export const versionBlocked: OwnGate = {
  code: 'VersionBlocked',
  at: ['start', 'activation'],
  endsAttempt: true,
  keepsSlot: false,
  ask: ({ node, version, now }) => {
    const block = version === null ? null : blockOf(node, version, now);
    if (block === null) return null;
    const ends = block.until === null ? 'until the crash record is forgotten' : sayEnd(block.until, now);
    return {
      until: block.until,
      words: `Version ${version ?? ''} is blocked on this node because ${whyBlocked(node)}; it waits for another version, ${ends}, or until a person says retry`,
    };
  },
};

const sayEnd = (until: Parameters<typeof sayWhen>[0], now: Parameters<typeof sayWhen>[1]): string =>
  `or for the end of the block ${sayWhen(until, now)}`;

/** With several blocked versions the last crash may have been another one's. */
function whyBlocked({ blockedVersions, crash }: NodeRecord): string {
  const reason = blockedVersions.length === 1 ? crash.lastReason : null;
  if (reason === 'RolledBack') return 'it booted back from it';
  if (reason === HEALTH_CHECK_FAILED) return 'it failed its health checks there';
  return 'it booted back from it or failed its health checks there';
}
