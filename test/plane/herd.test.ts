/** DESIGN section 10: many nodes enrol at once with an update offered. Requests are counted, not timed; so is `bench/herd.ts`. */
import { describe, expect, test } from 'vitest';
import { runHerd } from '../../world/herd.ts';

describe('a thousand nodes at once', () => {
  test.each([
    ['in the same millisecond', 0],
    ['within a second', 1_000],
  ])(
    '%s: none is refused, at most 10 requests each, and all 500 slots are taken within a minute',
    async (_when, withinMs) => {
      const herd = await runHerd({ nodes: 1_000, limit: 500, seed: 3, withinMs });
      expect([...herd.answers]).toEqual([[200, 1_000]]);
      expect(herd.slots).toBe(500);
      expect(herd.slotsTakenMs).toBeLessThan(60_000);
      expect(herd.requests / 1_000).toBeLessThanOrEqual(10);
      expect(herd.begun).toBe(500);
    },
  );

  test('a resume with all of them waiting is answered with one write, and fills the group behind it', async () => {
    const herd = await runHerd({ nodes: 1_000, limit: 500, seed: 3, withinMs: 1_000, operator: 'resume' });
    expect(herd.verb).toMatchObject({ status: 202 });
    expect(herd.verb?.requests).toBeLessThanOrEqual(6);
    expect(herd.slots).toBe(500);
    expect(herd.slotsTakenMs).toBeLessThan(60_000);
  });

  test('a pause in the middle of it is answered, and nothing more begins', async () => {
    const herd = await runHerd({ nodes: 1_000, limit: 500, seed: 3, withinMs: 1_000, operator: 'pause' });
    expect(herd.verb).toMatchObject({ status: 202 });
    expect(herd.verb?.ms).toBeLessThan(1_000);
    expect(herd.begunAfterVerb).toBeLessThanOrEqual(25);
    expect([...herd.answers]).toEqual([[200, 1_000]]);
  });
});
