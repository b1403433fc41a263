import type { OwnGate } from './gate.ts';

/** A person holds the node (DESIGN section 2 rule 6). */
export const held: OwnGate = {
  code: 'Held',
  at: ['start', 'activation', 'reboot'],
  endsAttempt: false,
  keepsSlot: false,
  ask: ({ node }) =>
    node.heldBy === null ? null : { until: null, words: `Held by ${node.heldBy} until it is released` },
};
