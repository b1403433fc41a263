// @ts-nocheck
import { randomBytes } from 'node:crypto';

/** A stream of draws. One seed gives one stream; each stand-in has its own, so that they do not disturb one another. */
export interface Chance {
  /** True once in `n` draws on average: 0 is never, 1 is always. Draws nothing for those two. */
  readonly oneIn: (n: number) => boolean;
  /** A number from `min` (included) to `max`. */
  readonly between: (min: number, max: number) => number;
}

/** Makes a stream of draws from a seed (mulberry32). Without a seed it differs from run to run. */
export function chanceFrom(seed: number | undefined): Chance {
  let state = seed ?? randomBytes(4).readUInt32LE(0);
  const draw = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    oneIn: (n) => (n <= 0 ? false : n === 1 ? true : draw() < 1 / n),
    between: (min, max) => min + draw() * (max - min),
  };
}
