/** The store in DynamoDB: consistent reads, one conditional write, queries that only propose. No scan, no transaction. */
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { type GroupId, type NodeId, parseNodeId, parseVmId, type VmId } from '../../core/kit/ids.ts';
import { parseRef } from '../../core/kit/ref.ts';
import { type IndexName, TABLE } from '../../core/contract/table.ts';
import { after, formatInstant, type Instant, instant, milliseconds } from '../../core/kit/time.ts';
import type { FleetCount } from '../../core/fleet/count.ts';
import type { HostEntry } from '../../core/vm/host-entry.ts';
import { attentionLine, chosen, memberLine, QUEUED, STAGED, UNDER_WAY } from '../keys.ts';
import { linesOfHost, vmEntry, vmLine, type VmLine } from '../vm-lines.ts';
import {
  type AggregateKind,
  type AttentionLine,
  type Choose,
  type Ids,
  type Loaded,
  type MemberLine,
  type Page,
  type Records,
  type Ref,
  type Store,
} from '../ports.ts';
import { toAttributes } from './attributes.ts';
import { FLEET_KEY, fleetWrite, readFleet } from './fleet-item.ts';
import {
  attentionPartition,
  byIdPartition,
  duePartition,
  type Item,
  itemKey,
  listPartition,
  memberPartition,
  readItem,
  SHARDS,
  versionKey,
  vmPartition,
  vmShard,
  writeOf,
} from './item.ts';

/** A tombstone is kept this long: longer than a late report can be. */
const TOMBSTONE_SECONDS = 30 * 24 * 3600;

export class DynamoStore implements Store {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #now: () => Instant;
  /** Versions that this process has written down: a fleet that is offered a new one costs one write a process. */
  readonly #noted = new Set<string>();

  constructor(client: DynamoDBClient, table: string, now: () => Instant) {
    this.#client = client;
    this.#table = table;
    this.#now = now;
  }

  async load<K extends AggregateKind>(kind: K, id: Ids[K]): Promise<Loaded<Records[K]> | null> {
    const { Item: item } = await this.#client.send(
      new GetItemCommand({ TableName: this.#table, Key: itemKey(kind, id), ConsistentRead: true }),
    );
    return item === undefined ? null : readItem(kind, item);
  }

  async save<K extends AggregateKind>(
    kind: K,
    record: Records[K],
    expectedRevision: number,
    writeId: string,
  ): Promise<boolean> {
    const write = writeOf(record, writeId, TOMBSTONE_SECONDS, this.#now());
    const id = record.kind === 'node' ? record.nodeId : record.kind === 'vm' ? record.vmId : record.group;
    const fresh = expectedRevision === 0;
    try {
      await this.#client.send(
        new UpdateItemCommand({
          TableName: this.#table,
          Key: itemKey(kind, id),
          ...write,
          ConditionExpression: fresh ? 'attribute_not_exists(#key)' : '#revision = :expected',
          ExpressionAttributeNames: {
            ...write.ExpressionAttributeNames,
            ...(fresh ? { '#key': TABLE.key.partition } : { '#revision': 'revision' }),
          },
          ExpressionAttributeValues: {
            ...write.ExpressionAttributeValues,
            ...(fresh ? {} : toAttributes({ ':expected': expectedRevision })),
          },
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }

  async list<K extends AggregateKind>(kind: K, limit: number, cursor: string | null): Promise<Page<Ids[K]>> {
    const partition = (shard: number): string => listPartition(kind, shard);
    const page = await this.#page('list', { partition, shards: SHARDS.list }, limit, cursor);
    // What the index of a kind holds are ids of that kind: `writeOf` put them there.
    return { items: page.items as Ids[K][], cursor: page.cursor };
  }

  /** With `choose` the whole queue is read, a page of the index for some ten thousand nodes: who may not start hides nobody. */
  async queue(group: GroupId, limit: number, choose?: Choose): Promise<NodeId[]> {
    const lines = await this.#members(group, QUEUED, choose === undefined ? limit : null);
    if (choose === undefined) return lines.slice(0, limit).map(({ nodeId }) => nodeId);
    return chosen(lines, choose).slice(0, limit);
  }

  async members(group: GroupId): Promise<MemberLine[]> {
    return this.#members(group, null, null);
  }

  async firstSeen(version: string): Promise<Instant | null> {
    const { Item: item } = await this.#client.send(
      new GetItemCommand({ TableName: this.#table, Key: versionKey(version), ConsistentRead: true }),
    );
    const seen = item?.['firstSeen']?.N;
    return seen === undefined ? null : instant(Number(seen));
  }

  async noteSeen(version: string, at: Instant): Promise<void> {
    if (this.#noted.has(version)) return;
    try {
      await this.#client.send(
        new UpdateItemCommand({
          TableName: this.#table,
          Key: versionKey(version),
          UpdateExpression: 'SET #a0 = :v0',
          ConditionExpression: 'attribute_not_exists(#key)',
          ExpressionAttributeNames: { '#a0': 'firstSeen', '#key': TABLE.key.partition },
          ExpressionAttributeValues: toAttributes({ ':v0': at }),
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
    this.#noted.add(version);
  }

  async underWay(group: GroupId): Promise<NodeId[]> {
    return (await this.#members(group, UNDER_WAY, null)).map(({ nodeId }) => nodeId);
  }

  async waitingStaged(group: GroupId): Promise<NodeId[]> {
    return (await this.#members(group, STAGED, null)).map(({ nodeId }) => nodeId);
  }

  async overdue(now: Instant, limitPerShard: number): Promise<Ref[]> {
    // A sort key is "instant#kind#id": everything up to the next millisecond is due.
    const bound = { operator: '<', value: formatInstant(after(now, milliseconds(1))) } as const;
    const shards = await Promise.all(
      shardNumbers(SHARDS.due).map((shard) => this.#sorts('due', duePartition(shard), bound, limitPerShard)),
    );
    return shards
      .flat()
      .sort()
      .flatMap((sort) => refFrom(sort.split('#').slice(1)));
  }

  async vmsOfHost(host: NodeId): Promise<VmId[]> {
    return (await this.#sorts('host', host, null, null)).flatMap((id) => parseVmId(id) ?? []);
  }

  async attention(): Promise<AttentionLine[]> {
    return (await this.#all('attention', attentionPartition, SHARDS.attention)).flatMap(attentionLine);
  }

  async membersById(group: GroupId, limit: number, cursor: string | null): Promise<Page<NodeId>> {
    const partition = (shard: number): string => byIdPartition(group, shard);
    const page = await this.#page('host', { partition, shards: SHARDS.members }, limit, cursor);
    return { items: page.items.flatMap((id) => parseNodeId(id) ?? []), cursor: page.cursor };
  }

  async hostEntries(host: NodeId): Promise<HostEntry[]> {
    const bound = { operator: 'begins_with', value: linesOfHost(host) } as const;
    return (await this.#sorts('members', vmPartition(host), bound, null)).flatMap(vmEntry);
  }

  async vmLines(): Promise<VmLine[]> {
    return (await this.#all('members', vmShard, SHARDS.vms)).flatMap(vmLine);
  }

  async vmIds(): Promise<VmId[]> {
    const ids = await this.#all('list', (shard) => listPartition('vm', shard), SHARDS.list);
    return ids.flatMap((id) => parseVmId(id) ?? []);
  }

  async loadFleet(): Promise<FleetCount | null> {
    const { Item: item } = await this.#client.send(
      new GetItemCommand({ TableName: this.#table, Key: FLEET_KEY, ConsistentRead: true }),
    );
    return item === undefined ? null : readFleet(item);
  }

  async saveFleet(count: FleetCount): Promise<void> {
    await this.#client.send(new UpdateItemCommand({ TableName: this.#table, Key: FLEET_KEY, ...fleetWrite(count) }));
  }

  /** Each shard is asked for a page; merged, they are in the order of the ids. */
  async #page(
    index: IndexName,
    { partition, shards }: { partition: (shard: number) => string; shards: number },
    limit: number,
    cursor: string | null,
  ): Promise<Page<string>> {
    const bound = cursor === null ? null : ({ operator: '>', value: cursor } as const);
    const found = await Promise.all(
      shardNumbers(shards).map((shard) => this.#sorts(index, partition(shard), bound, limit + 1)),
    );
    const all = found.flat().sort();
    const items = all.slice(0, limit);
    return { items, cursor: all.length > limit ? (items.at(-1) ?? null) : null };
  }

  /** All sort keys of all shards. */
  async #all(index: IndexName, partition: (shard: number) => string, shards: number): Promise<string[]> {
    const found = await Promise.all(
      shardNumbers(shards).map((shard) => this.#sorts(index, partition(shard), null, null)),
    );
    return found.flat();
  }

  async #members(group: GroupId, place: string | null, limit: number | null): Promise<MemberLine[]> {
    const bound = place === null ? null : ({ operator: 'begins_with', value: `${place}#` } as const);
    const shards = await Promise.all(
      shardNumbers(SHARDS.members).map((shard) => this.#sorts('members', memberPartition(group, shard), bound, limit)),
    );
    return shards.flat().sort().flatMap(memberLine);
  }

  /** The sort keys of an index partition. */
  async #sorts(index: IndexName, partition: string, bound: Bound | null, limit: number | null): Promise<string[]> {
    const { sort } = TABLE.indexes[index];
    const found: string[] = [];
    for await (const page of this.#pages(index, partition, bound, limit)) {
      for (const item of page) {
        const value = item[sort]?.S;
        if (value !== undefined) found.push(value);
      }
      if (limit !== null && found.length >= limit) break;
    }
    return limit === null ? found : found.slice(0, limit);
  }

  async *#pages(
    index: IndexName,
    partition: string,
    bound: Bound | null,
    limit: number | null,
  ): AsyncGenerator<Item[]> {
    const keys = TABLE.indexes[index];
    const query: QueryCommandInput = {
      TableName: this.#table,
      IndexName: index,
      KeyConditionExpression: `#p = :p${bound === null ? '' : bound.operator === 'begins_with' ? ' AND begins_with(#s, :s)' : ` AND #s ${bound.operator} :s`}`,
      ExpressionAttributeNames: { '#p': keys.partition, ...(bound === null ? {} : { '#s': keys.sort }) },
      ExpressionAttributeValues: toAttributes({ ':p': partition, ...(bound === null ? {} : { ':s': bound.value }) }),
      ...(limit === null ? {} : { Limit: limit }),
    };
    let start: Item | undefined;
    do {
      const page = await this.#client.send(
        new QueryCommand({ ...query, ...(start === undefined ? {} : { ExclusiveStartKey: start }) }),
      );
      yield page.Items ?? [];
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  }
}

type Bound = { operator: '<' | '>' | 'begins_with'; value: string };

const shardNumbers = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard);

/** A reference from the end of a sort key; an entry that is none is passed over, since an index only proposes. */
function refFrom([kind = '', id = '']: readonly string[]): Ref[] {
  const ref = parseRef(kind, id);
  return ref === null ? [] : [ref];
}
