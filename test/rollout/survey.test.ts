/** What the sweep reads of a group's members from the index (DESIGN section 2b). */
import { describe, expect, test } from 'vitest';
import { newGroup } from '../../core/group/record.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import { hours, instant } from '../../core/kit/time.ts';
import { digestOf, readDigest } from '../../core/node/digest.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { crashesOf, survey } from '../../core/rollout/survey.ts';
import { chooseZone } from '../../core/rollout/zone.ts';
import { crashedAt, nodeAt } from '../node/life.ts';

const shown = (node: NodeRecord) => readDigest(node.nodeId, digestOf(node));
const NOW = instant(1_767_300_000_000);

describe('a digest', () => {
  test('says what a survey asks of a node', () => {
    expect(shown(nodeAt('Idle').node)).toMatchObject({
      version: '1.0',
      offered: '1.1',
      idle: true,
      underWay: false,
      holdsSlot: false,
      silent: false,
      zone: 'none',
      crashedTowards: [],
      lastCrash: null,
    });
    expect(shown(nodeAt('PerformedUpdate').node)).toMatchObject({ idle: false, underWay: true, holdsSlot: true });
    const crashed = crashedAt('PerformedUpdate').node;
    expect(shown(crashed)).toMatchObject({
      crashedTowards: ['1.1'],
      lastCrash: { version: '1.1', at: crashed.crash.lastAt },
    });
  });

  test('keeps any text apart from its own marks, and short enough for a sort key', () => {
    const idle = nodeAt('Idle').node;
    const odd = (currentVersion: string): NodeRecord =>
      idle.status === null ? idle : { ...idle, status: { ...idle.status, currentVersion } };
    for (const version of ['1.0|2', '1,0;#', 'é 日本', 'x'.repeat(256), '日'.repeat(256)]) {
      const digest = digestOf(odd(version));
      expect(digest).not.toMatch(/[|#]/);
      expect(digest.length).toBeLessThan(800);
      const read = readDigest(idle.nodeId, digest)?.version ?? '';
      expect(version.startsWith(read) && read !== '').toBe(true);
    }
  });

  test('that a release before did not write, or that cannot be read, is none', () => {
    const { nodeId } = nodeAt('Idle').node;
    expect(readDigest(nodeId, '')).toBeNull();
    expect(readDigest(nodeId, '1.0,1.1,0')).toBeNull();
  });
});

describe('a survey', () => {
  test('counts by version who has it, is on the way, waits, or has failed', () => {
    const members = [nodeAt('Idle'), nodeAt('PerformedUpdate'), crashedAt('PerformedUpdate')].flatMap(
      ({ node }) => shown(node) ?? [],
    );
    const found = survey(newGroup(DEFAULT_GROUP), { members, total: 4, soak: null }, NOW);
    expect(found).toMatchObject({ members: 4, down: 0, settled: null });
    expect(found.rollout.target).toEqual({ '1.1': { done: 0, underWay: 2, waiting: 1, failed: 0 } });
  });

  test('names what keeps a group from settling, where another comes after it', () => {
    const members = [nodeAt('Idle')].flatMap(({ node }) => shown(node) ?? []);
    const found = survey(newGroup(DEFAULT_GROUP), { members, total: 1, soak: hours(1) }, NOW);
    expect(found.unsettled['1.1']).toMatch(/runs 1\.0$/);
  });

  test('finds crashes again that a breaker may not have heard of, up to a week old', () => {
    const { node } = crashedAt('PerformedUpdate');
    const members = [shown(node)].flatMap((digest) => digest ?? []);
    const at = node.crash.lastAt ?? NOW;
    expect(crashesOf(members, at)).toEqual([{ nodeId: node.nodeId, version: '1.1', at }]);
    expect(crashesOf(members, instant(at + hours(169)))).toEqual([]);
  });
});

describe('a zone', () => {
  const inZone = (zone: string, count = 0): NodeRecord => {
    const { node } = nodeAt('Idle');
    if (node.status === null) return node;
    return { ...node, status: { ...node.status, zone }, crash: { ...node.crash, count } };
  };
  const zonesOf = (nodes: readonly NodeRecord[]) => nodes.map(({ status }) => status?.zone);

  test('is chosen with the first that starts, and kept while any is under way', () => {
    const free = chooseZone([inZone('b'), inZone('a'), inZone('b')], null, 0);
    expect([zonesOf(free.chosen), free.kept.zone]).toEqual([['b', 'b'], 'b']);
    const kept = chooseZone([inZone('b'), inZone('a')], { zone: 'a', yields: null }, 1);
    expect([zonesOf(kept.chosen), kept.kept.zone]).toEqual([['a'], 'a']);
  });

  test('is left once a node with fewer crashes waits in another', () => {
    const choice = chooseZone([inZone('b', 0), inZone('a', 2)], { zone: 'a', yields: null }, 1);
    expect(choice).toEqual({ chosen: [], kept: { zone: 'a', yields: { to: 'b', crashes: 0 } } });
  });

  test('that nobody wrote down while nodes are under way starts nobody', () => {
    expect(chooseZone([inZone('a')], null, 1)).toEqual({ chosen: [], kept: { zone: null, yields: null } });
  });
});
