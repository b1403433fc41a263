/** For which events a decision about a node looks at its VMs and at its group, and which VMs it then finds (DESIGN sections 7 and 10). */
import { describe, expect, test } from 'vitest';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import { needsBlockers, needsGroup, type NodeEvent } from '../../core/node/event.ts';
import { offerOf } from '../../core/node/offer.ts';
import { blocksReboot, type VmRecord } from '../../core/vm/record.ts';
import { at, nodeAt } from './life.ts';
import { changed } from './situations.ts';
import { declared, edit, running } from '../vm/scene.ts';
import { ended } from '../vm/situations.ts';

const ready = () => nodeAt('PerformedUpdate').node;
const gone = () => changed(nodeAt('PerformedUpdate'), { removed: { at: at(0), reason: 'gone' } }).node;
const report = (state: 'Idle' | 'PerformedUpdate', generation = ready().spec.generation): NodeEvent => ({
  kind: 'report',
  report: { state, generation, bootId: 'b1', currentVersion: '1.0', updateCheck: { result: 'UpToDate' } },
});
/** What decides nothing about a start or a reboot. */
const OTHERS: readonly NodeEvent[] = [
  { kind: 'due' },
  { kind: 'retry' },
  { kind: 'hold', by: 'ann' },
  { kind: 'fence', by: 'ann' },
  { kind: 'told', at: at(0) },
  { kind: 'stopped', at: at(0) },
  { kind: 'running', at: at(0) },
  { kind: 'gone', how: 'lost', at: at(0) },
  { kind: 'restore', at: at(0) },
  { kind: 'remove', reason: 'gone' },
  { kind: 'wakeFailed', status: 'Failed', generation: null },
  { kind: 'disclaim', claimId: 'claim-1' },
];

describe('a decision looks at the VMs of a node', () => {
  test.each<NodeEvent>([{ kind: 'proceed' }, { kind: 'release' }, report('PerformedUpdate')])(
    'where it may bring the node nearer to its reboot: %j',
    (event) => {
      expect(needsBlockers(ready(), event)).toBe(true);
      expect(needsBlockers(nodeAt('Idle').node, event)).toBe(false);
      expect(needsBlockers(gone(), event)).toBe(false);
      expect(needsBlockers(null, event)).toBe(false);
    },
  );

  test.each<NodeEvent>([...OTHERS, report('Idle'), report('PerformedUpdate', 1)])('and not for %j', (event) => {
    expect(needsBlockers(ready(), event)).toBe(false);
  });
});

describe('a decision looks at the group of a node', () => {
  test.each<NodeEvent>([
    { kind: 'start', claim: null, told: false },
    { kind: 'proceed' },
    { kind: 'release' },
    { kind: 'move', group: DEFAULT_GROUP },
    report('PerformedUpdate'),
  ])('for %j', (event) => {
    expect(needsGroup(ready(), event)).toBe(true);
  });

  test.each<NodeEvent>([...OTHERS, report('Idle'), report('PerformedUpdate', 1)])('and not for %j', (event) => {
    expect(needsGroup(ready(), event)).toBe(false);
  });

  test('not for the report of a step that cannot be held', () => {
    const { node } = nodeAt('StagedUpdate');
    expect(needsGroup(node, report('PerformedUpdate', node.spec.generation))).toBe(false);
  });

  test('for the report by which a node enrols, and for nothing else of one that is not there', () => {
    for (const node of [null, gone()]) {
      expect(needsGroup(node, report('Idle'))).toBe(true);
      expect(needsGroup(node, { kind: 'start', claim: null, told: false })).toBe(false);
    }
  });
});

describe('a VM is in the way of its host', () => {
  const block = { maintenance: 'block' } as const;
  test.each<[string, () => VmRecord, boolean]>([
    ['while it runs', () => running('Always', block).vm, true],
    ['while it is asked for', () => declared('Always', block).vm, true],
    ['not when it is off', () => declared('Manual', block).vm, false],
    [
      'not once it has ended',
      () => edit(ended('Manual', 'Succeeded'), { body: running('Manual', block).vm.body }).vm,
      false,
    ],
    ['not once it is gone', () => edit(running('Always', block), { removed: { at: at(0) } }).vm, false],
    ['not when it may be stopped for it', () => running('Always').vm, false],
  ])('%s', (_what, make, blocks) => {
    expect(blocksReboot(make())).toBe(blocks);
  });
});

test('a machine that EC2 has stopped is not ready, whatever it last said', () => {
  const life = nodeAt('Idle');
  expect(offerOf(life.node)).toEqual({ kind: 'newer', version: '1.1' });
  expect(offerOf(changed(life, { machine: { state: 'stopped', at: at(8) } }).node)).toEqual({
    kind: 'stopped',
  });
});
