/** The simulation is what it says: repeatable, able to tell when a guarantee breaks, and able to show how. */
import { describe, expect, it } from 'vitest';
import { Checker } from './checker.ts';
import { Kernel } from '../../../world/kernel.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulation.ts';
import { toScenario } from './to-scenario.ts';

describe('one seed gives one history, byte for byte', () => {
  it('twice the same seed', { timeout: 120_000 }, async () => {
    const [one, two] = [await simulate({ seed: 7, minutes: 20 }), await simulate({ seed: 7, minutes: 20 })];
    expect(two.digest).toBe(one.digest);
    expect([...two.struck]).toEqual([...one.struck]);
  });

  it('another seed gives another history', { timeout: 120_000 }, async () => {
    const [one, two] = [await simulate({ seed: 7, minutes: 10 }), await simulate({ seed: 8, minutes: 10 })];
    expect(two.digest).not.toBe(one.digest);
  });

  it('every kind of fault strikes in some history', { timeout: 600_000 }, async () => {
    const struck = new Set<string>();
    for (let seed = 1; seed <= 12; seed += 1)
      for (const kind of (await simulate({ seed, minutes: 30, largest: 20 })).struck.keys()) struck.add(kind);
    expect(struck.size).toBeGreaterThan(35);
  });
});

describe('the checker', () => {
  it('says when a second instance of a VM is alive', () => {
    const checker = new Checker(new Kernel(0));
    checker.guestBegan('web', 'one', 'i-00000000000000001');
    checker.guestBegan('web', 'two', 'i-00000000000000002');
    expect(checker.violations.map(({ guarantee }) => guarantee)).toEqual(['G5']);
  });

  it('lets the next one begin once the first has ended', () => {
    const checker = new Checker(new Kernel(0));
    checker.guestBegan('web', 'one', 'i-00000000000000001');
    checker.guestEnded('web', 'one');
    checker.guestBegan('web', 'two', 'i-00000000000000001');
    expect(checker.violations).toEqual([]);
  });
});

describe('a failure is made small and shown', () => {
  it('as a scenario with the calls that lead there', { timeout: 120_000 }, async () => {
    const history = await simulate({ seed: 3, machines: 2, vms: 2, minutes: 10 });
    const at = history.handled.at(-1)?.at ?? history.start;
    // A violation that is none: any crash count is one too many.
    const invented = {
      ...history,
      violations: [
        {
          guarantee: 'G1' as const,
          subject: 'group/default',
          at,
          what: 'invented for this test',
          expected: { group: 'another' },
        },
      ],
    };
    const replay = await toScenario(invented);
    expect(replay.fails).toBe(true);
    const scenario: unknown = JSON.parse(replay.text);
    expect(scenario).toMatchObject({ steps: [{ expect: { group: 'default', match: { group: 'another' } } }] });
  });

  it('and shrinking keeps the plan when nothing smaller fails', { timeout: 120_000 }, async () => {
    const history = await simulate({ seed: 3, machines: 1, vms: 1, minutes: 10 });
    const invented = {
      ...history,
      violations: [
        { guarantee: 'G1' as const, subject: 'vm/vm-0', at: history.start, what: 'invented', expected: null },
      ],
    };
    expect((await shrink(invented, 3)).plan).toEqual(history.plan);
  });
});
