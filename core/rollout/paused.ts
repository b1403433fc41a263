import type { Gate } from './gate.ts';

/** A person has paused the group (DESIGN section 2 rule 6). */
export const paused: Gate = {
  code: 'Paused',
  at: ['start', 'activation', 'reboot'],
  endsAttempt: false,
  keepsSlot: true,
  ask: ({ group }) =>
    group.pausedBy === null
      ? null
      : { until: null, words: `Its group is paused by ${group.pausedBy} until it is resumed` },
};
