/** Never nodes of two zones under way at once (DESIGN section 2b, Zones). */
import type { NodeRecord } from '../node/record.ts';

/**
 * The zone that is kept, and whom it makes way for: a node with fewer crashes that waits in another. `zone` is null where
 * nodes were under way before the policy asked for one: then nobody starts until they are done.
 */
export type KeptZone = { zone: string | null; yields: { to: string; crashes: number } | null };

/** A node that named no zone is in one of its own. */
export const NO_ZONE = 'none';
export const zoneOf = ({ status }: Pick<NodeRecord, 'status'>): string => status?.zone ?? NO_ZONE;

export type ZoneChoice = {
  /** Those that may start now, in the order given. */
  chosen: readonly NodeRecord[];
  kept: KeptZone;
};

/**
 * Who of those that lack nothing but a slot may start, in the order of the queue. The zone is the one that is kept, else
 * the first one's. Nobody starts in it while a node with fewer crashes waits in another.
 */
export function chooseZone(ready: readonly NodeRecord[], kept: KeptZone | null, holders: number): ZoneChoice {
  const [first] = ready;
  if (holders > 0 && (kept === null || kept.zone === null)) return { chosen: [], kept: { zone: null, yields: null } };
  const zone = holders > 0 && kept?.zone != null ? kept.zone : first === undefined ? null : zoneOf(first);
  const elsewhere = ready.filter((node) => zoneOf(node) !== zone);
  const best = elsewhere.toSorted((a, b) => a.crash.count - b.crash.count)[0];
  const here = ready.filter((node) => zoneOf(node) === zone);
  const chosen = best === undefined ? here : here.filter((node) => node.crash.count <= best.crash.count);
  const yields =
    best === undefined || chosen.length === here.length ? null : { to: zoneOf(best), crashes: best.crash.count };
  return { chosen, kept: { zone, yields } };
}
