/**
 * The wait before try `failures + 1` at something that may heal: `firstMs` (1 s), then twice that, up to 60 s, the upper
 * half of it drawn.
 */
export function retryWaitMs(failures: number, random: number, firstMs = FIRST_MS): number {
  const full = Math.min(Math.max(firstMs, LONGEST_MS), firstMs * 2 ** Math.min(failures - 1, 16));
  return Math.round(full * (0.5 + random / 2));
}

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** The wait until the next regular report: what the control plane said, ± 10 % (DESIGN section 6). */
export const reportWaitMs = (everySeconds: number, random: number): number =>
  Math.round(everySeconds * 1000 * (0.9 + 0.2 * random));
