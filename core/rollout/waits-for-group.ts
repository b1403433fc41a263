import { formatDuration, sayWhen } from '../kit/time.ts';
import { isExpedited } from './expedited.ts';
import type { Gate } from './gate.ts';
import { promoted } from './settling.ts';

/** The group that comes before this one has not settled on the version for long enough (DESIGN section 2b, Promotion). */
export const waitsForGroup: Gate = {
  code: 'WaitsForGroup',
  at: ['start', 'activation'],
  endsAttempt: true,
  keepsSlot: false,
  ask: ({ group, version, now }) => {
    const { before, expedited } = group.rollout;
    if (before === null || version === null || isExpedited(expedited, version)) return null;
    const answer = promoted(before.settled, version, before.soak, now);
    if (answer.may) return null;
    const soak = formatDuration(before.soak);
    if (answer.until !== null) {
      const words = `Version ${version} has to stay settled in group ${before.group} for ${soak}: it may be taken ${sayWhen(answer.until, now)}`;
      return { until: answer.until, words };
    }
    const missing = before.unsettled[version] ?? `no node there has completed ${version} yet`;
    return {
      until: null,
      words: `Waits until group ${before.group} has settled on ${version} for ${soak}: ${missing}`,
    };
  },
};
