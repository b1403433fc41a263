import type { Slots } from '../group/slots.ts';
import type { Gate } from './gate.ts';

/** As many of the group are under way as may be (DESIGN section 2 rule 4). A staged node that gave its slot up needs one again. */
export const noSlot: Gate = {
  code: 'NoSlot',
  at: ['start', 'activation'],
  endsAttempt: false,
  keepsSlot: false,
  ask: ({ node, group, stage }) => {
    const has = node.attempt !== null && (node.attempt.claimId !== null || node.attempt.unlimited);
    if (stage === 'activation' ? has : group.slots.free !== 0) return null;
    return { until: null, words: `Waits for a free slot of its group: ${sayHolders(group.slots)}` };
  },
};

const NAMED_MAX = 3;

function sayHolders({ limit, holders, uncounted, counting, free }: Slots): string {
  if (free !== 0) return 'one is free, and given to it as soon as the group is filled, at the latest at the next sweep';
  if (counting) return 'nodes that began without a limit are being counted before another one starts';
  const named = holders.slice(0, NAMED_MAX).join(', ');
  const more = holders.length > NAMED_MAX ? ` and ${holders.length - NAMED_MAX} more` : '';
  const held = holders.length === 0 ? '' : `${holders.length} of ${limit ?? 0} held by ${named}${more}`;
  const rest = uncounted === 0 ? '' : `${uncounted} under way that began without a limit`;
  return `${[held, rest].filter((part) => part !== '').join(', ')}; it goes on when one of them is done`;
}
