/** The wait before try `failures + 1` at something that may heal: 1 s, 2 s, 4 s … 60 s, the upper half of it drawn. */
// @ts-nocheck

export function retryWaitMs(failures: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16));
  return Math.round(full * (0.5 + random / 2));
}

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** The wait until the next regular report: what the control plane said, ± 10 % (DESIGN section 6). */
export const reportWaitMs = (everySeconds: number, random: number): number =>
  Math.round(everySeconds * 1000 * (0.9 + 0.2 * random));
