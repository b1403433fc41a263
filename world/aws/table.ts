/**
 * DynamoDB as the adapters use it: conditional writes, consistent reads, queries, and indexes of keys only that lag.
 * Strict: an expression that it does not know is an error.
 */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type GetItemCommandInput,
  type PutItemCommandInput,
  type QueryCommandInput,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { type KeyAttributes, TABLE } from '../../core/contract/table.ts';

export type Item = Record<string, AttributeValue>;
/** What an index shows of an item from an instant on. */
type Version = { visibleAt: number; item: Item };
type Stored = { now: Item; versions: Version[] };

const INDEXES: readonly KeyAttributes[] = [TABLE.key, ...Object.values(TABLE.indexes)];

/** The fleet as the sweep counted it: no record, and written whatever was there. */
const FLEET = 'fleet#count';

const text = (item: Readonly<Item> | undefined, name: string): string => item?.[name]?.S ?? '';

export class VirtualTable {
  readonly #items = new Map<string, Stored>();
  /** Index → its partition → the items of which some version that may still be shown is in it. */
  readonly #indexes = new Map(INDEXES.map((keys) => [keys, new Map<string, Set<Stored>>()]));
  /** Counts the writes of records, so that a caller can tell whether anything changed. */
  writes = 0;

  get({ Key }: Pick<GetItemCommandInput, 'Key'>): { Item?: Item } {
    const stored = this.#items.get(keyOf(Key));
    return stored === undefined ? {} : { Item: stored.now };
  }

  /**
   * @param visibleAt when the indexes will have it
   * @throws {ConditionalCheckFailedException}
   */
  update(input: UpdateItemCommandInput, visibleAt: number): Item {
    const names = input.ExpressionAttributeNames ?? {};
    const values = input.ExpressionAttributeValues ?? {};
    const before = this.#items.get(keyOf(input.Key))?.now ?? null;
    const fleet = text(input.Key, TABLE.key.partition) === FLEET;
    if (!fleet && !holds(input.ConditionExpression ?? '', before, names, values)) throw refused();
    const after: Item = { ...input.Key, ...before };
    const [sets = '', removes = ''] = clausesOf(input.UpdateExpression);
    for (const part of sets.split(', ')) {
      const [name = '', value = ''] = part.split(' = ');
      const given = values[value];
      const attribute = names[name];
      if (given === undefined || attribute === undefined) throw new Error(`${part} names nothing`);
      after[attribute] = given;
    }
    for (const name of removes === '' ? [] : removes.split(', ')) delete after[names[name] ?? ''];
    this.#store(after, visibleAt);
    if (!fleet) this.writes += 1;
    return after;
  }

  /** @throws {ConditionalCheckFailedException} when there is such an item: no caller wants to put over one */
  put({ Item: item = {}, ConditionExpression: condition }: PutItemCommandInput, visibleAt: number): Item {
    if (condition !== 'attribute_not_exists(#p)') throw unknown('condition', condition);
    if (this.#items.has(keyOf(item))) throw refused();
    this.#store(item, visibleAt);
    return item;
  }

  #store(item: Item, visibleAt: number): void {
    const key = keyOf(item);
    const stored = this.#items.get(key) ?? { now: item, versions: [] };
    stored.now = item;
    stored.versions.push({ visibleAt: Math.max(visibleAt, stored.versions.at(-1)?.visibleAt ?? 0), item });
    this.#items.set(key, stored);
    for (const [keys, partitions] of this.#indexes) {
      const partition = item[keys.partition]?.S;
      if (partition === undefined) continue;
      const there = partitions.get(partition);
      if (there === undefined) partitions.set(partition, new Set([stored]));
      else there.add(stored);
    }
  }

  /** What the table, or an index at an instant, has in a partition, in the order of its sort key. */
  query(input: QueryCommandInput, now: number): { Items: Item[]; Count: number } {
    const keys: KeyAttributes | undefined =
      input.IndexName === undefined
        ? TABLE.key
        : Object.entries(TABLE.indexes).find(([name]) => name === input.IndexName)?.[1];
    if (keys === undefined) throw unknown('index', input.IndexName);
    const partition = input.ExpressionAttributeValues?.[':p']?.S ?? '';
    const fits = rangeOf(input.KeyConditionExpression, input.ExpressionAttributeValues?.[':s']?.S ?? '');
    const there = this.#indexes.get(keys)?.get(partition);
    const found: { sort: string; item: Item }[] = [];
    for (const stored of there ?? []) {
      const item = keys === TABLE.key ? stored.now : shown(stored.versions, now);
      const sort = text(item ?? undefined, keys.sort);
      if (item !== null && item[keys.partition]?.S === partition) {
        if (fits(sort)) found.push({ sort, item });
      } else if (stored.versions.length === 1 && (stored.versions[0]?.visibleAt ?? Infinity) <= now)
        there?.delete(stored);
    }
    const order = input.ScanIndexForward === false ? -1 : 1;
    found.sort((a, b) => (a.sort < b.sort ? -order : order));
    const some = found.slice(0, input.Limit ?? found.length);
    const whole = keys === TABLE.key;
    return { Items: some.map(({ item }) => (whole ? item : projected(item, keys))), Count: some.length };
  }

  /** Every item as it is stored now. */
  all(): Item[] {
    return Array.from(this.#items.values(), ({ now }) => now);
  }

  /** The earliest instant at which anything stored falls due, by the due-time index. */
  earliestDue(): number | null {
    const { due: keys } = TABLE.indexes;
    let first: string | null = null;
    for (const there of this.#indexes.get(keys)?.values() ?? []) {
      for (const { now } of there) {
        const due = now[keys.sort]?.S;
        if (due !== undefined && (first === null || due < first)) first = due;
      }
    }
    return first === null ? null : Date.parse(first.slice(0, first.indexOf('#')));
  }
}

/** An index has the keys, and nothing else of an item. */
function projected(item: Item, { partition, sort }: KeyAttributes): Item {
  const kept: Item = {};
  for (const name of [TABLE.key.partition, TABLE.key.sort, partition, sort]) {
    const value = item[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** The newest version that the indexes have at an instant; what none of them will ask for again is forgotten. */
function shown(versions: Version[], now: number): Item | null {
  while (versions.length > 1 && (versions[1]?.visibleAt ?? Infinity) <= now) versions.shift();
  const [first] = versions;
  return first === undefined || first.visibleAt > now ? null : first.item;
}

const keyOf = (key: Readonly<Item> | undefined): string =>
  `${text(key, TABLE.key.partition)}|${text(key, TABLE.key.sort)}`;

const unknown = (what: string, given: unknown): Error => new Error(`a ${what} that is not known: ${String(given)}`);
const refused = (): Error =>
  new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} });

/** `SET …` and `REMOVE …` of an update. */
function clausesOf(expression: string | undefined): readonly string[] {
  const [, ...clauses] = /^SET (.+?)(?: REMOVE (.+))?$/.exec(expression ?? '') ?? [];
  if (clauses.length === 0) throw unknown('update expression', expression);
  return clauses;
}

type Range = (sort: string, bound: string) => boolean;
const RANGES: Readonly<Record<string, Range>> = {
  '#p = :p': () => true,
  '#p = :p AND begins_with(#s, :s)': (sort, bound) => sort.startsWith(bound),
  '#p = :p AND #s < :s': (sort, bound) => sort < bound,
  '#p = :p AND #s > :s': (sort, bound) => sort > bound,
};

function rangeOf(condition: string | undefined, bound: string): (sort: string) => boolean {
  const range = RANGES[condition ?? ''];
  if (range === undefined) throw unknown('key condition', condition);
  return (sort) => range(sort, bound);
}

function holds(
  condition: string,
  item: Item | null,
  names: Record<string, string>,
  values: Record<string, AttributeValue>,
): boolean {
  if (condition === 'attribute_not_exists(#key)') return item === null;
  if (condition === '#revision = :expected')
    return item !== null && item[names['#revision'] ?? '']?.N === values[':expected']?.N;
  throw unknown('condition', condition);
}
