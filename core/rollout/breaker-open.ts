import { formatInstant } from '../kit/time.ts';
import type { Gate } from './gate.ts';
import { sameVersion } from './version-rules.ts';

/** Too many nodes of the group crashed on the version (DESIGN section 2b, Breaker). */
export const breakerOpen: Gate = {
  code: 'BreakerOpen',
  at: ['start', 'activation', 'reboot'],
  endsAttempt: true,
  recalls: true,
  keepsSlot: false,
  ask: ({ group, version }) => {
    const open =
      version === null ? undefined : group.rollout.breakers.find((entry) => sameVersion(entry.version, version));
    if (open === undefined) return null;
    const { nodes, openedAt } = open;
    const crashed = nodes.length === 1 ? 'one node has crashed' : `${nodes.length} nodes have crashed`;
    return {
      until: null,
      words: `The breaker of its group is open for ${open.version} since ${formatInstant(openedAt)}: ${crashed} on it (${sayNodes(nodes)}); nobody takes it until a person says closeBreaker, another version may be taken`,
    };
  },
};

const NAMED_MAX = 3;

function sayNodes(nodes: readonly string[]): string {
  const named = nodes.slice(0, NAMED_MAX).join(', ');
  return nodes.length > NAMED_MAX ? `${named} and ${nodes.length - NAMED_MAX} more` : named;
}
