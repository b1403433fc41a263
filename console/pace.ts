/** How often the page asks: fast while something moves, slow otherwise, slower still when nobody answers. */
import { parseInstant, type Instant } from '../core/kit/time.ts';
import type { NodeJson, VmJson } from '../core/contract/answers.ts';
import { nodeTone } from '../present/nodes.ts';
import { vmTone } from '../present/vms.ts';

const FAST_MS = 1500;
const SLOW_MS = 10_000;
/** One who waits so long for its next attempt is not moving yet. */
const SOON_MS = 20_000;
const LOST_FIRST_MS = 1000;
const LOST_MAX_MS = 15_000;
/** A page of a list costs the control plane work: a fleet of fifty pages is not walked every second. */
const PAGE_MS = 200;

export type Pace = { readonly moving: boolean; readonly failures: number; readonly pages: number };

/** Milliseconds from the end of one look to the next. */
export function waitMs({ moving, failures, pages }: Pace): number {
  if (failures > 0) return Math.min(LOST_MAX_MS, LOST_FIRST_MS * 2 ** Math.min(failures - 1, 10));
  return Math.max(moving ? FAST_MS : SLOW_MS, pages * PAGE_MS);
}

export const nodeMoves = (node: NodeJson, now: Instant): boolean =>
  nodeTone(node) === 'busy' ||
  node.phase === 'Recovering' ||
  (node.phase === 'BackingOff' && isSoon(node.crash.retryAfter, now));

export const vmMoves = (vm: VmJson, now: Instant): boolean =>
  vmTone(vm) === 'busy' || isSoon(vm.startFailure?.retryAfter ?? vm.unstableRuns?.retryAfter ?? null, now);

function isSoon(at: string | null, now: Instant): boolean {
  const then = at === null ? null : parseInstant(at);
  return then !== null && then - now < SOON_MS && now - then < SOON_MS;
}
