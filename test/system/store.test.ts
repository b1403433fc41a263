import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { newGroup } from '../../core/group/record.ts';
import { type GroupId, type NodeId, parseNodeId } from '../../core/kit/ids.ts';
import { newNode } from '../../core/node/enrol.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { formatInstant, instant } from '../../core/kit/time.ts';
import { DynamoEventLog } from '../../functions/aws/event-log.ts';
import { DynamoStore } from '../../functions/aws/dynamodb-store.ts';
import type { Store } from '../../functions/ports.ts';
import { World } from '../../world/simulate/world.ts';
import { LOCAL_TABLE } from '../../local/table-input.ts';
import { embeddedTable } from './embedded-table.ts';

const NOW = instant(Date.UTC(2026, 0, 5));
const database = embeddedTable('store');

function nodeIdOf(number: number): NodeId {
  const id = parseNodeId(`i-${String(number).padStart(17, '0')}`);
  if (id === null) throw new Error('not a node id');
  return id;
}

/** A node of a group of its own test, with one thing or another to say. */
function node(number: number, group: string, change: Partial<NodeRecord> = {}): NodeRecord {
  return { ...newNode(nodeIdOf(number), group, null, { now: NOW, group: null }), revision: 1, ...change };
}

const STORES: [string, () => Store][] = [
  ['in virtual AWS', () => new World({ start: NOW, seed: 1, timerLateness: 0 }).store],
  ['in DynamoDB', () => new DynamoStore(database(), LOCAL_TABLE, () => NOW)],
];

describe.each(STORES)('the store %s', (name, open) => {
  let store: Store;
  // The table is shared by the tests: each uses a group and ids of its own.
  const base = name === 'in virtual AWS' ? 0 : 1000;
  const groupOf = (text: string): GroupId => newGroup(`${text}-${base}` as GroupId).group; // the text is a valid name
  beforeAll(() => {
    store = open();
  });

  test('gives back what was saved, with its write id, and nothing for what was not', async () => {
    const saved = node(base + 1, groupOf('a'));
    expect(await store.save('node', saved, 0, 'w1')).toBe(true);
    expect(await store.load('node', saved.nodeId)).toEqual({ record: saved, writeId: 'w1' });
    expect(await store.load('node', nodeIdOf(base + 999))).toBeNull();
  });

  test('refuses a write that expects another revision, and leaves the item as it was', async () => {
    const first = node(base + 2, groupOf('b'));
    await store.save('node', first, 0, 'w1');
    expect(await store.save('node', { ...first, revision: 1, heldBy: 'x' }, 0, 'w2')).toBe(false);
    expect(await store.save('node', { ...first, revision: 6, heldBy: 'x' }, 5, 'w3')).toBe(false);
    expect((await store.load('node', first.nodeId))?.record).toEqual(first);
    expect(await store.save('node', { ...first, revision: 2, heldBy: 'x' }, 1, 'w4')).toBe(true);
  });

  test('of two writers at once with the same revision exactly one wins', async () => {
    const first = node(base + 3, groupOf('c'));
    await store.save('node', first, 0, 'w0');
    const results = await Promise.all(
      ['a', 'b', 'c'].map((by) => store.save('node', { ...first, revision: 2, heldBy: by }, 1, by)),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
  });

  test('proposes a group in queue order: fewest crashes, longest waiting, lowest id; and only who waits', async () => {
    const group = groupOf('d');
    const waiting = (number: number, count: number, since: number): NodeRecord =>
      node(number, group, { waitingSince: instant(since), crash: { ...node(number, group).crash, count } });
    const nodes = [
      waiting(base + 13, 1, 5),
      waiting(base + 12, 0, 9),
      waiting(base + 11, 0, 9),
      waiting(base + 14, 0, 3),
      node(base + 15, group),
    ];
    for (const each of nodes) await store.save('node', each, 0, 'w');
    expect(await store.queue(group, 10)).toEqual([14, 11, 12, 13].map((number) => nodeIdOf(base + number)));
    expect(await store.queue(group, 2)).toHaveLength(2);
    expect(await store.members(group)).toHaveLength(5);
  });

  test('a record that leaves an index is proposed no more', async () => {
    const group = groupOf('e');
    const first = node(base + 21, group, { waitingSince: NOW });
    await store.save('node', first, 0, 'w');
    await store.save('node', { ...first, revision: 2, waitingSince: null }, 1, 'w');
    expect(await store.queue(group, 10)).toEqual([]);
  });

  test('finds what is overdue at an instant, and not what is due a millisecond later', async () => {
    const due = node(base + 31, groupOf('f'));
    const at = instant(NOW + 60_000);
    await store.save('node', { ...due, spec: { ...due.spec, nextWakeAt: at } }, 0, 'w');
    const ids = async (when: number): Promise<string[]> =>
      (await store.overdue(instant(when), 100)).map(({ id }) => String(id));
    expect(await ids(at - 1)).not.toContain(due.nodeId);
    expect(await ids(at)).toContain(due.nodeId);
  });

  test('lists in the order of ids, page by page, without losing or repeating one', async () => {
    const ids = Array.from({ length: 25 }, (_, index) => nodeIdOf(base + 100 + index));
    for (const [index] of ids.entries()) await store.save('node', node(base + 100 + index, groupOf('g')), 0, 'w');
    const seen: string[] = [];
    let cursor: string | null = nodeIdOf(base + 99);
    do {
      const page: { items: NodeId[]; cursor: string | null } = await store.list('node', 7, cursor);
      seen.push(...page.items);
      ({ cursor } = page);
    } while (cursor !== null);
    expect(seen.filter((id) => ids.some((each) => each === id))).toEqual(ids);
  });

  test('a removed node is in no listing and no group, and its tombstone is still there', async () => {
    const gone = node(base + 41, groupOf('h'), { removed: { at: NOW, reason: 'test' } });
    await store.save('node', gone, 0, 'w');
    expect(await store.members(groupOf('h'))).toEqual([]);
    expect((await store.list('node', 200, null)).items).not.toContain(gone.nodeId);
    expect((await store.load('node', gone.nodeId))?.record.removed?.reason).toBe('test');
  });
});

test('an item of a newer format is refused by name, not misread', async () => {
  const store = new DynamoStore(database(), LOCAL_TABLE, () => NOW);
  const id = nodeIdOf(5001);
  await database().send(
    new PutItemCommand({
      TableName: LOCAL_TABLE,
      Item: marshall({ pk: `node#${id}`, sk: 'A', format: 3, revision: 1, record: {} }),
    }),
  );
  await expect(store.load('node', id)).rejects.toMatchObject({ code: 'ItemFormat' });
});

test('an attribute that this version does not know survives a write', async () => {
  const store = new DynamoStore(database(), LOCAL_TABLE, () => NOW);
  const first = node(5002, 'later');
  await store.save('node', first, 0, 'w');
  const { GetItemCommand, UpdateItemCommand } = await import('@aws-sdk/client-dynamodb');
  const Key = marshall({ pk: `node#${first.nodeId}`, sk: 'A' });
  await database().send(
    new UpdateItemCommand({
      TableName: LOCAL_TABLE,
      Key,
      UpdateExpression: 'SET future = :f',
      ExpressionAttributeValues: marshall({ ':f': 'kept' }),
    }),
  );
  await store.save('node', { ...first, revision: 2 }, 1, 'w');
  expect((await database().send(new GetItemCommand({ TableName: LOCAL_TABLE, Key }))).Item?.['future']?.S).toBe('kept');
});

test('the event log is newest first over days, page by page, and an event delivered twice is kept once', async () => {
  const log = new DynamoEventLog(database(), LOCAL_TABLE);
  const entries = Array.from({ length: 7 }, (_, index) => ({
    id: `node/x/${index}`,
    at: formatInstant(instant(NOW - index * 9 * 3_600_000)),
    type: 'Node Updated',
    severity: 'info' as const,
    subject: 'node/x',
    message: `event ${index}`,
  }));
  await log.append(entries);
  await log.append(entries.slice(0, 2));
  const first = await log.read(3, null, NOW);
  const second = await log.read(10, first.cursor, NOW);
  expect([...first.items, ...second.items].map(({ message }) => message)).toEqual(
    entries.map(({ message }) => message),
  );
  expect(second.cursor).toBeNull();
});
