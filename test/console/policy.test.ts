import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changedOnly, diffLines } from '../../console/line-diff.ts';
import { policyText, readPolicy } from '../../console/policy-text.ts';
import { chainOf, sayProgress, versionsOf, waitingOf } from '../../console/rollout.ts';
import { crashedNode, group, idleNode, NODE_A, NODE_B } from '../face/fleet.ts';

describe('a policy as text', () => {
  test('what a group has can be put as it is shown: nothing in it is refused', () => {
    expect(readPolicy(policyText(group()))).toMatchObject({ kind: 'body' });
  });

  test('what the API would refuse is said with its path, in its words', () => {
    expect(readPolicy('{ "maxConcurrentUpdates": 0, "windos": [] }')).toEqual({
      kind: 'problems',
      problems: [expect.stringContaining('maxConcurrentUpdates: '), expect.stringContaining('windos')],
    });
    expect(readPolicy('{ "spread": "zone", "maxConcurrentUpdates": "unlimited" }')).toEqual({
      kind: 'problems',
      problems: [expect.stringContaining('spread: needs a limit')],
    });
    expect(readPolicy('{')).toEqual({ kind: 'problems', problems: [expect.stringContaining('not JSON')] });
  });

  test('a diff shows the fewest lines that change', () => {
    expect(diffLines('{\n  "a": 1,\n  "b": 2\n}', '{\n  "a": 1,\n  "b": 3\n}')).toEqual([
      { kind: 'same', text: '{' },
      { kind: 'same', text: '  "a": 1,' },
      { kind: 'gone', text: '  "b": 2' },
      { kind: 'new', text: '  "b": 3' },
      { kind: 'same', text: '}' },
    ]);
  });

  test('both texts can be read off any diff', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        const without = (kind: string): string =>
          lines
            .filter((line) => line.kind !== kind)
            .map((line) => line.text)
            .join('\n');
        expect([without('new'), without('gone')]).toEqual([before, after]);
      }),
    );
  });

  test('what stays is shown only beside what changes', () => {
    const lines = diffLines('1\n2\n3\n4\n5\n6', '1\n2\n3\n4\n5\n7');
    expect(changedOnly(lines, 1).map(({ text }) => text)).toEqual(['5', '6', '7']);
    expect(changedOnly(diffLines('a', 'a'), 1)).toEqual([]);
  });
});

describe('a rollout', () => {
  const after = (name: string, first: string): ReturnType<typeof group> =>
    group({ group: name, policy: { ...group().policy, after: { group: first, soak: '24h' } } });

  test('the groups that come first are named from the front; a circle ends where it closes', () => {
    const all = [
      group({ group: 'canary' }),
      after('web', 'canary'),
      after('db', 'web'),
      after('a', 'b'),
      after('b', 'a'),
    ];
    const byName = new Map(all.map((one) => [one.group, one]));
    const chain = (name: string): string[] => chainOf(byName.get(name) ?? group(), byName);
    expect(chain('db')).toEqual(['canary', 'web', 'db']);
    expect(chain('canary')).toEqual(['canary']);
    expect(chain('a')).toEqual(['b', 'a']);
  });

  test('progress is cut, so that 99.9 % never reads as 100', () => {
    expect(sayProgress({ done: 999, underWay: 1, waiting: 0, failed: 0 })).toBe(
      '999 of 1000 nodes done (99 %), 1 under way',
    );
    expect(sayProgress({ done: 1, underWay: 0, waiting: 0, failed: 0 })).toBe('1 of 1 node done (100 %)');
  });

  test('who waits for what, the most first, with a sentence of one of them', () => {
    const waits = (nodeId: string, code: 'NoSlot' | 'Held'): ReturnType<typeof idleNode> =>
      idleNode({ nodeId, waitingFor: { code }, explanation: `${code} of ${nodeId}` });
    expect(waitingOf([waits('a', 'Held'), waits('b', 'NoSlot'), waits('c', 'NoSlot'), idleNode()])).toEqual([
      { code: 'NoSlot', ids: ['b', 'c'], example: 'NoSlot of b' },
      { code: 'Held', ids: ['a'], example: 'Held of a' },
    ]);
  });

  test('versions that run, a node that never reported among them', () => {
    const nodes = [idleNode({ nodeId: NODE_A }), crashedNode({ nodeId: NODE_B }), idleNode({ status: null })];
    expect(versionsOf(nodes)).toEqual([
      { version: '1.20.0', count: 2 },
      { version: 'not reported', count: 1 },
    ]);
  });
});
