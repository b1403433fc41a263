import type { Gate } from './gate.ts';

/** One more under way would be more than may be down (DESIGN section 2b, `maxUnavailable`). */
export const tooManyDown: Gate = {
  code: 'TooManyDown',
  at: ['start', 'activation'],
  endsAttempt: false,
  keepsSlot: false,
  ask: ({ node, group }) => {
    const { room, holders } = group.slots;
    if (room === null || holders.includes(node.nodeId) || holders.length < room) return null;
    const { down } = group.rollout;
    return {
      until: null,
      words: `Of its group ${room + down} may be unavailable: ${down} ${down === 1 ? 'is' : 'are'} silent or unreachable and ${holders.length} under way; it goes on when one of them is back`,
    };
  },
};
