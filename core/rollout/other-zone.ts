import type { Gate } from './gate.ts';
import { zoneOf } from './zone.ts';

/** Nodes of another zone are under way (DESIGN section 2b, Zones). */
export const otherZone: Gate = {
  code: 'OtherZone',
  at: ['start', 'activation'],
  endsAttempt: false,
  keepsSlot: false,
  ask: ({ node, group }) => {
    const { zone: kept } = group.rollout;
    if (kept === null || group.slots.holders.includes(node.nodeId)) return null;
    const ends = `which ends when ${sayHolders(group.slots.holders)} reported Idle, deleted or terminated`;
    if (kept.zone === null) {
      return { until: null, words: `Nodes of zones that are not known are under way in its group, ${ends}` };
    }
    const own = zoneOf(node);
    if (kept.zone !== own) {
      return {
        until: null,
        words: `Its group is being updated in zone ${kept.zone}, and this node is in ${own}: one zone at a time, ${ends}`,
      };
    }
    const { yields } = kept;
    if (yields === null || node.crash.count <= yields.crashes) return null;
    return {
      until: null,
      words: `Makes way for a node of zone ${yields.to} with fewer crashes: zone ${own} is left first, ${ends}`,
    };
  },
};

const NAMED_MAX = 3;

function sayHolders(holders: readonly string[]): string {
  const named = holders.slice(0, NAMED_MAX).join(', ');
  if (holders.length > NAMED_MAX) return `${named} and ${holders.length - NAMED_MAX} more have`;
  return `${named} ${holders.length === 1 ? 'has' : 'have'}`;
}
