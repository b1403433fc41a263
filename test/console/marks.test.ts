import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FLEET } from '../../console/address.ts';
import { blocksOf, countsOf, layoutOf, markAt, marksOf, matches, placeOf, type Mark } from '../../console/marks.ts';
import { crashedNode, idleNode, NODE_A, NODE_B, runningVm } from '../face/fleet.ts';

const fleet = marksOf(
  new Map([
    [NODE_B, crashedNode({ group: 'web' })],
    [NODE_A, idleNode({ group: 'hosts', zone: 'eu-1a' })],
  ]),
  new Map([
    ['db', runningVm({ vmId: 'db', hostId: NODE_A })],
    ['lost', runningVm({ vmId: 'lost', hostId: 'i-00000000000000fff' })],
  ]),
);
const many = (count: number): Mark[] =>
  marksOf(
    new Map(Array.from({ length: count }, (_, n) => [`i-${n}`, idleNode({ nodeId: `i-${n}`, group: `g${n % 3}` })])),
    new Map(),
  );

describe('the fleet as marks', () => {
  test('each node and VM is one, with the tone that its table has; a VM stands with its host', () => {
    expect(fleet.map(({ kind, id, tone, group, zone }) => [kind, id, tone, group, zone])).toEqual([
      ['node', NODE_A, 'good', 'hosts', 'eu-1a'],
      ['node', NODE_B, 'bad', 'web', 'none'],
      ['vm', 'db', 'good', 'hosts', 'eu-1a'],
      ['vm', 'lost', 'good', 'host unknown', 'host unknown'],
    ]);
  });

  test('by group, nodes and VMs apart; by host, together', () => {
    expect(blocksOf(fleet, 'group').map(({ label, caption }) => [label, caption])).toEqual([
      ['host unknown', '1 VM'],
      ['hosts', '1 node'],
      ['', '1 VM'],
      ['web', '1 node'],
    ]);
    expect(blocksOf(fleet, 'host').map(({ label, caption }) => [label, caption])).toEqual([
      [NODE_A, '1 VM'],
      [NODE_B, ''],
      ['i-00000000000000fff', '1 VM'],
    ]);
  });

  test('only what the address asks for is shown', () => {
    const ids = (view: Partial<typeof FLEET>): string[] =>
      fleet.filter((mark) => matches(mark, { ...FLEET, ...view })).map(({ id }) => id);
    expect(ids({ state: 'BackingOff' })).toEqual([NODE_B]);
    expect(ids({ find: 'db' })).toEqual(['db']);
    expect(ids({ version: '1.20.0', find: 'hosts' })).toEqual([NODE_A]);
    expect(ids({})).toHaveLength(4);
  });

  test('counts by state, the most first', () => {
    expect(countsOf(fleet).map(({ state, count }) => `${state} ${count}`)).toEqual([
      'Running 2',
      'BackingOff 1',
      'Idle 1',
    ]);
  });

  test.each([360, 800, 1240])(
    'at %i pixels every mark is found where it is drawn, and no two at one place',
    (width) => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 1500 }), (count) => {
          const marks = many(count);
          const layout = layoutOf(blocksOf(marks, 'group'), width);
          const sample = marks.filter((_mark, n) => n % 37 === 0);
          for (const mark of sample) {
            const place = placeOf(layout, mark.id, mark.kind);
            expect(place).not.toBeNull();
            if (place === null) continue;
            expect(markAt(layout, place.x, place.y)?.id).toBe(mark.id);
            expect(place.x).toBeLessThan(width);
            expect(place.y).toBeLessThan(layout.height);
          }
        }),
        { numRuns: 20 },
      );
    },
  );

  test('ten thousand fit in two screens of a desk, and are large enough to hit', () => {
    const { cell, height } = layoutOf(blocksOf(many(10_000), 'group'), 1184);
    expect(cell).toBeGreaterThanOrEqual(9);
    expect(height).toBeLessThan(1600);
  });
});
