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
import { after, formatInstant, type Instant, milliseconds } from '../../core/kit/time.ts';
import { QUEUED, STAGED, UNDER_WAY } from '../keys.ts';
import {
  type AggregateKind,
  type Concern,
  CONCERNS,
  type Ids,
  type Loaded,
  type Page,
  type Records,
  type Ref,
  type Store,
} from '../ports.ts';
import { toAttributes } from './attributes.ts';
import {
  attentionPartition,
  duePartition,
  type Item,
  itemKey,
  listPartition,
  memberPartition,
  readItem,
  SHARDS,
  writeOf,
} from './item.ts';

/** A tombstone is kept this long: longer than a late report can be. */
const TOMBSTONE_SECONDS = 30 * 24 * 3600;

export class DynamoStore implements Store {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #now: () => Instant;

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

  /** Each shard is asked for a page; merged, they are in the order of the ids. */
  async list<K extends AggregateKind>(kind: K, limit: number, cursor: string | null): Promise<Page<Ids[K]>> {
    const shards = await Promise.all(
      shardNumbers(SHARDS.list).map((shard) =>
        this.#sorts(
          'list',
          listPartition(kind, shard),
          cursor === null ? null : { operator: '>', value: cursor },
          limit + 1,
        ),
      ),
    );
    const all = shards.flat().sort();
    // What the index of a kind holds are ids of that kind: `writeOf` put them there.
    const items = all.slice(0, limit) as Ids[K][];
    return { items, cursor: all.length > limit ? (items.at(-1) ?? null) : null };
  }

  async queue(group: GroupId, limit: number): Promise<NodeId[]> {
    return (await this.#members(group, QUEUED, limit)).slice(0, limit);
  }

  underWay(group: GroupId): Promise<NodeId[]> {
    return this.#members(group, UNDER_WAY, null);
  }

  waitingStaged(group: GroupId): Promise<NodeId[]> {
    return this.#members(group, STAGED, null);
  }

  async countMembers(group: GroupId): Promise<number> {
    const counts = await Promise.all(
      shardNumbers(SHARDS.members).map(async (shard) => {
        let count = 0;
        for await (const page of this.#pages('members', memberPartition(group, shard), null, null, true))
          count += page.count;
        return count;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
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

  async concerns(): Promise<{ concern: Concern; ref: Ref }[]> {
    const shards = await Promise.all(
      shardNumbers(SHARDS.attention).map((shard) => this.#sorts('attention', attentionPartition(shard), null, null)),
    );
    return shards.flat().flatMap((sort) => {
      const [concerns = '', ...rest] = sort.split('#');
      return refFrom(rest).flatMap((ref) =>
        concerns.split('+').flatMap((concern) => (isConcern(concern) ? [{ concern, ref }] : [])),
      );
    });
  }

  async #members(group: GroupId, prefix: string, limit: number | null): Promise<NodeId[]> {
    const shards = await Promise.all(
      shardNumbers(SHARDS.members).map((shard) =>
        this.#sorts('members', memberPartition(group, shard), { operator: 'begins_with', value: `${prefix}#` }, limit),
      ),
    );
    return shards
      .flat()
      .sort()
      .flatMap((rank) => parseNodeId(rank.split('#').at(-1) ?? '') ?? []);
  }

  /** The sort keys of an index partition. */
  async #sorts(index: IndexName, partition: string, bound: Bound | null, limit: number | null): Promise<string[]> {
    const { sort } = TABLE.indexes[index];
    const found: string[] = [];
    for await (const page of this.#pages(index, partition, bound, limit, false)) {
      for (const item of page.items) {
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
    countOnly: boolean,
  ): AsyncGenerator<{ items: Item[]; count: number }> {
    const keys = TABLE.indexes[index];
    const query: QueryCommandInput = {
      TableName: this.#table,
      IndexName: index,
      KeyConditionExpression: `#p = :p${bound === null ? '' : bound.operator === 'begins_with' ? ' AND begins_with(#s, :s)' : ` AND #s ${bound.operator} :s`}`,
      ExpressionAttributeNames: { '#p': keys.partition, ...(bound === null ? {} : { '#s': keys.sort }) },
      ExpressionAttributeValues: toAttributes({ ':p': partition, ...(bound === null ? {} : { ':s': bound.value }) }),
      ...(limit === null ? {} : { Limit: limit }),
      ...(countOnly ? { Select: 'COUNT' as const } : {}),
    };
    let start: Item | undefined;
    do {
      const page = await this.#client.send(
        new QueryCommand({ ...query, ...(start === undefined ? {} : { ExclusiveStartKey: start }) }),
      );
      yield { items: page.Items ?? [], count: page.Count ?? 0 };
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  }
}

type Bound = { operator: '<' | '>' | 'begins_with'; value: string };

const shardNumbers = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard);

const isConcern = (text: string): text is Concern => CONCERNS.some((concern) => concern === text);

/** A reference from the end of a sort key; an entry that is none is passed over, since an index only proposes. */
function refFrom([kind = '', id = '']: readonly string[]): Ref[] {
  const ref = parseRef(kind, id);
  return ref === null ? [] : [ref];
}
