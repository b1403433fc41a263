import { formatDuration, sayWhen } from '../kit/time.ts';
import { isExpedited } from './expedited.ts';
import type { Gate } from './gate.ts';
import { tooYoungUntil } from './version-rules.ts';

/** The version was first seen too short a time ago (DESIGN section 2b, `minVersionAge`). */
export const versionTooYoung: Gate = {
  code: 'VersionTooYoung',
  at: ['start', 'activation'],
  endsAttempt: true,
  keepsSlot: false,
  ask: ({ group, version, now }) => {
    const { policy, firstSeen, expedited } = group.rollout;
    if (version === null || policy.version.minVersionAge === 0 || isExpedited(expedited, version)) return null;
    const until = tooYoungUntil(policy.version, firstSeen.get(version) ?? null, now);
    if (until === null) return null;
    const age = formatDuration(policy.version.minVersionAge);
    return {
      until,
      words: `Version ${version} is younger than ${age}, counted from when it was first seen: it may be taken ${sayWhen(until, now)}`,
    };
  },
};
