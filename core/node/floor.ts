/** Where generations go on after a restore (docs/runbooks/restore.md). */
import type { Instant } from '../kit/time.ts';

/**
 * No generation issued before `at` can be as high: a generation grows by one, and no node lives through more than one
 * new generation a second on average, so a count that began at an earlier floor (or at 1) stays below the seconds of the
 * clock. It depends on the clock alone, and so holds also when the copy is older than an earlier recovery.
 */
export const generationFloor = (at: Instant): number => Math.floor(at / 1000);
