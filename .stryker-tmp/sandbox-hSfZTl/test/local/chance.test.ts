// @ts-nocheck
import { describe, expect, it } from 'vitest';
import { chanceFrom } from '../../local/aws/chance.ts';

const draws = (seed: number): number[] => {
  const chance = chanceFrom(seed);
  return Array.from({ length: 1000 }, () => chance.between(2, 4));
};

describe('the draws of the stand-ins', () => {
  it('are the same for the same seed, and others for another', () => {
    expect(draws(1)).toEqual(draws(1));
    expect(draws(1)).not.toEqual(draws(2));
  });

  it('stay within their bounds and fill them', () => {
    const all = draws(1);
    expect(Math.min(...all)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...all)).toBeLessThan(4);
    expect(all.filter((draw) => draw < 3).length).toBeGreaterThan(400);
    expect(all.filter((draw) => draw < 3).length).toBeLessThan(600);
  });

  it('come true one time in N: never for 0, always for 1', () => {
    const chance = chanceFrom(1);
    const count = (n: number): number => Array.from({ length: 1000 }, () => chance.oneIn(n)).filter(Boolean).length;
    expect([count(0), count(1)]).toEqual([0, 1000]);
    expect(count(20)).toBeGreaterThan(20);
    expect(count(20)).toBeLessThan(100);
  });
});
