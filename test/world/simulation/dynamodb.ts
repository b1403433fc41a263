/** DynamoDB as the store uses it: conditional updates, consistent reads, and indexes that lag. Strict: an expression it does not know is an error. */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  type GetItemCommandInput,
  type QueryCommandInput,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../../../core/contract/table.ts';

export type Item = Record<string, AttributeValue>;
type Version = { visibleAt: number; item: Item };

const text = (item: Item | undefined, name: string): string => item?.[name]?.S ?? '';

export class SimulatedTable {
  readonly #items = new Map<string, { now: Item; versions: Version[] }>();

  get({ Key }: GetItemCommandInput): { Item?: Item } {
    const stored = this.#items.get(keyOf(Key));
    return stored === undefined ? {} : { Item: stored.now };
  }

  /**
   * @param visibleAt when the indexes will have it
   * @throws {ConditionalCheckFailedException}
   */
  update(input: UpdateItemCommandInput, visibleAt: number): Item {
    const key = keyOf(input.Key);
    const stored = this.#items.get(key);
    const names = input.ExpressionAttributeNames ?? {};
    const values = input.ExpressionAttributeValues ?? {};
    if (!holds(input.ConditionExpression ?? '', stored?.now ?? null, names, values)) {
      throw new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} });
    }
    const after: Item = { ...input.Key, ...stored?.now };
    const [, sets = '', removes = ''] = /^SET (.+?)(?: REMOVE (.+))?$/.exec(input.UpdateExpression ?? '') ?? [];
    if (sets === '') throw new Error(`an update expression that is not known: ${String(input.UpdateExpression)}`);
    for (const part of sets.split(', ')) {
      const [name = '', value = ''] = part.split(' = ');
      const given = values[value];
      const attribute = names[name];
      if (given === undefined || attribute === undefined) throw new Error(`${part} names nothing`);
      after[attribute] = given;
    }
    for (const name of removes === '' ? [] : removes.split(', ')) delete after[names[name] ?? ''];
    const versions = stored?.versions ?? [];
    const last = versions.at(-1);
    versions.push({ visibleAt: Math.max(visibleAt, last?.visibleAt ?? 0), item: after });
    this.#items.set(key, { now: after, versions });
    return after;
  }

  /** What the index shows at an instant, in the order of its sort key. */
  query(input: QueryCommandInput, now: number): { Items: Item[]; Count: number } {
    const index = Object.entries(TABLE.indexes).find(([name]) => name === input.IndexName)?.[1];
    if (index === undefined) throw new Error(`no index ${String(input.IndexName)}`);
    const partition = input.ExpressionAttributeValues?.[':p']?.S;
    const bound = input.ExpressionAttributeValues?.[':s']?.S ?? '';
    const condition = input.KeyConditionExpression ?? '';
    const fits = (sort: string): boolean => {
      if (condition === '#p = :p') return true;
      if (condition.endsWith('begins_with(#s, :s)')) return sort.startsWith(bound);
      if (condition.endsWith('#s < :s')) return sort < bound;
      if (condition.endsWith('#s > :s')) return sort > bound;
      throw new Error(`a key condition that is not known: ${condition}`);
    };
    const found: Item[] = [];
    for (const stored of this.#items.values()) {
      const item = shown(stored.versions, now);
      if (item !== null && item[index.partition]?.S === partition && fits(text(item, index.sort))) found.push(item);
    }
    found.sort((a, b) => (text(a, index.sort) < text(b, index.sort) ? -1 : 1));
    const items = input.Limit === undefined ? found : found.slice(0, input.Limit);
    return { Items: items, Count: items.length };
  }

  all(): Item[] {
    return [...this.#items.values()].map(({ now }) => now);
  }
}

function shown(versions: Version[], now: number): Item | null {
  while (versions.length > 1 && (versions[1]?.visibleAt ?? Infinity) <= now) versions.shift();
  const [first] = versions;
  return first === undefined || first.visibleAt > now ? null : first.item;
}

const keyOf = (key: Record<string, AttributeValue> | undefined): string =>
  `${text(key, TABLE.key.partition)}|${text(key, TABLE.key.sort)}`;

function holds(
  condition: string,
  item: Item | null,
  names: Record<string, string>,
  values: Record<string, AttributeValue>,
): boolean {
  if (condition === 'attribute_not_exists(#key)') return item === null;
  if (condition === '#revision = :expected')
    return item !== null && item[names['#revision'] ?? '']?.N === values[':expected']?.N;
  throw new Error(`a condition that is not known: ${condition}`);
}
