/** The guarantees of DESIGN section 7, in as many histories as `npm test` has time for. */
import { describe, expect, it } from 'vitest';
import { simulate } from './simulation.ts';

const AT_ONCE = 25;

/** Small fleets for half an hour; larger ones and longer storms with `npm run test:simulation -- --seeds 20000`. */
export function keepsEveryGuarantee(first: number, last: number): void {
  describe('a fleet under faults keeps every guarantee, and converges once they end', () => {
    for (let from = first; from <= last; from += AT_ONCE) {
      it(`seeds ${from} to ${from + AT_ONCE - 1}`, { timeout: 900_000 }, async () => {
        for (let seed = from; seed < from + AT_ONCE; seed += 1) {
          const { violations } = await simulate({ seed, largest: 8, minutes: 20 });
          expect({ seed, violations }).toEqual({ seed, violations: [] });
        }
      });
    }
  });
}
