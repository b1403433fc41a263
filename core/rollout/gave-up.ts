import { givenUp } from '../node/given-up.ts';
import type { Gate } from './gate.ts';

/** So many crashes that nothing begins by itself any more towards a version that any of them was towards (rule 3). */
export const gaveUp: Gate = {
  code: 'GaveUp',
  at: ['start'],
  endsAttempt: false,
  keepsSlot: false,
  ask: ({ node, group, version }) => {
    if (!givenUp(node, group.policy.backoff)) return null;
    const { towards, count } = node.crash;
    if (towards !== undefined && version !== null && !towards.includes(version)) return null;
    const which = version === null ? 'nothing' : `${version} is not tried again`;
    return {
      until: null,
      words: `Given up after ${count === 1 ? 'one crash' : `${count} crashes`}: ${version === null ? 'nothing begins' : which} by itself until a person says retry`,
    };
  },
};
