/** A group is counted from its index: what a line tells is the phase that the node itself shows. */
import { expect, test } from 'vitest';
import { phaseOfDigest } from '../../core/group/member-phase.ts';
import { digestOf, readDigest } from '../../core/node/digest.ts';
import { nodePhase } from '../../core/node/phase.ts';
import { at, NODE, NodeLife } from '../node/life.ts';
import * as situations from '../node/situations.ts';

const lives = Object.entries(situations).flatMap(([name, reach]): [string, NodeLife][] => {
  if (typeof reach !== 'function' || reach.length > 0) return [];
  const life: unknown = (reach as () => unknown)();
  return life instanceof NodeLife ? [[name, life]] : [];
});

const more: [string, NodeLife][] = [
  ['at rest', situations.withCheck({ result: 'UpToDate' })],
  ['whose check failed', situations.withCheck({ result: 'Failed', message: 'no route' })],
  ['that could start', situations.withCheck({ result: 'Available', version: '1.1' })],
  ['held', situations.held(situations.withCheck({ result: 'UpToDate' }))],
  ['held while it is asked', situations.held(situations.asked())],
  ['staged for a VM', situations.stagedForVms(1)],
  ['unheard', situations.late(situations.asked(), 3600)],
];

test.each([...lives, ...more])('%s', (_name, life) => {
  const { node } = life;
  const digest = readDigest(NODE, digestOf(node));
  for (const later of [0, 60, 3600]) {
    const now = at((life.now - at(0)) / 1000 + later);
    expect(phaseOfDigest(digest, life.group(), now)).toBe(nodePhase(node, life.group(), now));
  }
});

test('a line of the release before is counted, too', () => {
  const life = new NodeLife();
  life.report({ updateCheck: { result: 'UpToDate' } });
  const before = digestOf(life.node).split(',').slice(0, 8).join(',');
  expect(readDigest(NODE, before)).toMatchObject({ stage: null, retryAfter: null });
  expect(phaseOfDigest(readDigest(NODE, before), life.group(), life.now)).toBe('Idle');
  expect(phaseOfDigest(null, life.group(), life.now)).toBe('Idle');
});
