/** The fleet in numbers: what the summary says, counted in pieces (DESIGN section 6). */
import type { AttentionEntry, Summary } from '../contract/answers.ts';
import type { Instant } from '../kit/time.ts';

/** How many there are, and how many of them under each word. */
export type Tally = { total: number; by: Readonly<Record<string, number>> };

/** As the sweep counted it from the indexes alone. */
export type FleetCount = { at: Instant; nodes: Tally; vms: Tally; attention: readonly AttentionEntry[] };

export function tally(words: Iterable<string>): Tally {
  const by: Record<string, number> = {};
  let total = 0;
  for (const word of words) {
    total += 1;
    by[word] = (by[word] ?? 0) + 1;
  }
  return { total, by };
}

export const summed = ({ nodes, vms }: { nodes: Tally; vms: Tally }): Pick<Summary, 'nodes' | 'vms'> => ({
  nodes: { total: nodes.total, byPhase: { ...nodes.by } },
  vms: { total: vms.total, byStatus: { ...vms.by } },
});
