/** Records as they stand in a virtual table, read without a call: for whoever watches a world, not for what runs in it. */
import { readItem } from '../functions/aws/item.ts';
import type { AggregateKind, Ids, Records } from '../functions/ports.ts';
import type { Item, VirtualTable } from './aws/table.ts';

type AnyRecord = Records[AggregateKind];

/** An item is never changed in place, so that it needs to be read once. */
const read = new WeakMap<Item, AnyRecord>();

/** The record of an item; null where it is none (an entry of the event log). */
export function recordOf(item: Item): AnyRecord | null {
  const known = read.get(item);
  if (known !== undefined) return known;
  const kind = kindOf(item);
  if (kind === null) return null;
  const { record } = readItem(kind, item);
  read.set(item, record);
  return record;
}

/** The record as it is stored now. */
export function peek<K extends AggregateKind>(table: VirtualTable, kind: K, id: Ids[K]): Records[K] | null {
  const { Item: item } = table.get({ Key: { pk: { S: `${kind}#${id}` }, sk: { S: 'A' } } });
  // An item under a kind's key holds a record of that kind.
  return item === undefined ? null : (recordOf(item) as Records[K] | null);
}

function kindOf(item: Item): AggregateKind | null {
  const [kind] = (item['pk']?.S ?? '').split('#');
  return kind === 'node' || kind === 'vm' || kind === 'group' ? kind : null;
}
