/** The guarantees of DESIGN section 7, in as many histories as `npm test` has time for. */
import { describe, expect, it } from 'vitest';
import { simulate } from './simulation.ts';

/** A newcomer's `npm test` takes the first of those that CI takes. */
const HISTORIES = Number(process.env['HOLDOFF_HISTORIES'] ?? 40);
const AT_ONCE = 20;

/**
 * Small fleets for half an hour; larger ones and longer storms with `npm run test:simulation -- --seeds 20000`.
 *
 * @param first the odd seeds from 1 or the even ones from 2: two files, for two cores
 */
export function keepsEveryGuarantee(first: 1 | 2): void {
  describe('a fleet under faults keeps every guarantee, and converges once they end', () => {
    for (let from = first; from <= HISTORIES; from += AT_ONCE) {
      const seeds = Array.from({ length: AT_ONCE / 2 }, (_, index) => from + 2 * index);
      it(`seeds ${seeds.join(', ')}`, { timeout: 900_000 }, async () => {
        for (const seed of seeds) {
          const { violations } = await simulate({ seed, largest: 8, minutes: 20 });
          expect({ seed, violations }).toEqual({ seed, violations: [] });
        }
      });
    }
  });
}
