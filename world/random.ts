import type { Draw } from '../core/decision/fact.ts';

/** mulberry32: a small seeded generator, the same on every machine. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Draws for decisions. Ids have a stream of their own, so that one more of them does not move every delay. */
export function seededDraws(seed: number): () => Draw {
  const delays = seededRandom(seed);
  const deadlines = seededRandom(seed ^ 0x5bd1e995);
  const ids = seededRandom(seed ^ 0x27d4eb2f);
  const word = (): string =>
    Math.floor(ids() * 4_294_967_296)
      .toString(16)
      .padStart(8, '0');
  return () => ({ delay: delays(), deadline: deadlines(), id: `${word()}${word()}` });
}
