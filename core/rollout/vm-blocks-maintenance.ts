import { blockersOf, sayBlockers } from '../node/blockers.ts';
import type { OwnGate } from './gate.ts';

/** A live VM on the host has `maintenance: "block"` (DESIGN section 3 rule 10); looked at before anything is activated. */
export const vmBlocksMaintenance: OwnGate = {
  code: 'VmBlocksMaintenance',
  at: ['activation', 'reboot'],
  endsAttempt: false,
  keepsSlot: false,
  ask: ({ node }) => {
    const blockers = blockersOf(node);
    if (blockers.length === 0) return null;
    return {
      until: null,
      words: `${sayBlockers(blockers)} from its reboot (maintenance: block) until ${blockers.length === 1 ? 'it is off or no longer blocks' : 'they are off or no longer block'}`,
    };
  },
};
