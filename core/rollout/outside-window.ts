import { formatInstant, sayWhen } from '../kit/time.ts';
import type { Gate } from './gate.ts';

/** No window of the group is open, or a freeze holds (DESIGN section 2b, Windows). */
export const outsideWindow: Gate = {
  code: 'OutsideWindow',
  at: ['start', 'activation', 'reboot'],
  endsAttempt: false,
  keepsSlot: true,
  ask: ({ group, now }) => {
    const { openness } = group.rollout;
    if (openness.open) return null;
    const { opensAt, frozen } = openness;
    const next =
      opensAt === null ? 'none of its windows opens within five years' : `it goes on ${sayWhen(opensAt, now)}`;
    if (frozen === null) return { until: opensAt, words: `Outside the maintenance windows of its group: ${next}` };
    const reason = frozen.reason === null ? '' : ` (${frozen.reason})`;
    return { until: opensAt, words: `Its group is frozen until ${formatInstant(frozen.to)}${reason}: ${next}` };
  },
};
