/** How a record is kept in the table: one item, its revision, its index keys (docs/data-model.md). */
import { type IndexName, TABLE } from '../../core/contract/table.ts';
import { formatInstant, type Instant } from '../../core/kit/time.ts';
import { hasRollout } from '../../core/policy/rollout.ts';
import { attentionParts, indexKeys, memberSort, refOf } from '../keys.ts';
import { vmSort } from '../vm-lines.ts';
import type { AggregateKind, Loaded, Records } from '../ports.ts';
import { ItemFormatError } from '../unreadable.ts';
import { type Attributes, fromAttributes, toAttributes } from './attributes.ts';

/** The newest format that this code knows; it reads this one and the ones before, and refuses newer ones. */
const FORMAT = 2;
const FORMAT_OLDEST = 0;
/** What a release before this reads too; it is written wherever nothing of the record would be ignored there. */
export const FORMAT_COMMON = 1;

/**
 * A group whose policy has what the release before would ignore is written so that it refuses the item: its nodes stand
 * still after a rollback rather than reboot outside a window (DESIGN section 7).
 */
function formatOf(record: Records[AggregateKind]): number {
  if (record.kind !== 'group' || record.body === null) return FORMAT_COMMON;
  return hasRollout(record.body) ? FORMAT : FORMAT_COMMON;
}

export type Item = Attributes;

export const itemKey = (kind: AggregateKind, id: string): Item =>
  toAttributes({ [TABLE.key.partition]: `${kind}#${id}`, [TABLE.key.sort]: 'A' });

export const SHARDS = { list: 8, members: 4, vms: 8, due: 8, attention: 4 } as const;

/** A stable spread of ids over shards (FNV-1a). */
export function shardOf(id: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % shards;
}

export const listPartition = (kind: AggregateKind, shard: number): string => `${kind}#${shard}`;
export const memberPartition = (group: string, shard: number): string => `${group}#${shard}`;
/** VMs are in the index of members, too, those of a host together: no group has a name like this. */
export const vmPartition = (host: string): string => vmShard(shardOf(host, SHARDS.vms));
export const vmShard = (shard: number): string => `vms##${shard}`;
/** The members of a group by id are in the index of hosts: no host has a name like this. */
export const byIdPartition = (group: string, shard: number): string => `group#${group}#${shard}`;
export const versionKey = (version: string): Item =>
  toAttributes({ [TABLE.key.partition]: `version#${version}`, [TABLE.key.sort]: 'A' });
export const duePartition = (shard: number): string => `due#${shard}`;
export const attentionPartition = (shard: number): string => `attention#${shard}`;
export const dueSort = (at: Instant, kind: AggregateKind, id: string): string => `${formatInstant(at)}#${kind}#${id}`;

type Keys = { partition: string; sort: string } | null;

function keysOf(record: Records[AggregateKind]): Record<IndexName, Keys> {
  const { kind, id } = refOf(record);
  const { listed, member, vm, due, troubled, concerns, host } = indexKeys(record);
  return {
    list: listed ? { partition: listPartition(kind, shardOf(id, SHARDS.list)), sort: id } : null,
    members:
      member !== null
        ? { partition: memberPartition(member.group, shardOf(id, SHARDS.members)), sort: memberSort(member) }
        : vm === null
          ? null
          : { partition: vmPartition(vm.host), sort: vmSort(vm.host, vm.status, vm.entry) },
    due: due === null ? null : { partition: duePartition(shardOf(id, SHARDS.due)), sort: dueSort(due, kind, id) },
    attention:
      concerns.length === 0 && troubled === null
        ? null
        : {
            partition: attentionPartition(shardOf(id, SHARDS.attention)),
            sort: [concerns.join('+'), kind, id, ...(troubled === null ? [] : attentionParts(troubled))].join('#'),
          },
    host:
      host !== null
        ? { partition: host, sort: id }
        : member === null
          ? null
          : { partition: byIdPartition(member.group, shardOf(id, SHARDS.members)), sort: id },
  };
}

export type Write = {
  UpdateExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues: Item;
};

/** Sets what is known of an item and removes it from the indexes it has left; attributes not known here stay. */
export function writeOf(
  record: Records[AggregateKind],
  writeId: string,
  tombstoneSeconds: number,
  now: Instant,
): Write {
  const sets: string[] = [];
  const removes: string[] = [];
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const set = (name: string, value: unknown): void => {
    const index = sets.length + removes.length;
    names[`#a${index}`] = name;
    if (value === null) removes.push(`#a${index}`);
    else {
      values[`:v${index}`] = value;
      sets.push(`#a${index} = :v${index}`);
    }
  };
  set('format', formatOf(record));
  set('revision', record.revision);
  set('writeId', writeId);
  set('record', record);
  const tombstone = record.kind !== 'group' && record.removed !== null;
  set(TABLE.timeToLiveAttribute, tombstone ? Math.ceil(now / 1000) + tombstoneSeconds : null);
  const keys = keysOf(record);
  for (const name of ['list', 'members', 'due', 'attention', 'host'] as const) {
    const { partition, sort } = TABLE.indexes[name];
    set(partition, keys[name]?.partition ?? null);
    set(sort, keys[name]?.sort ?? null);
  }
  const remove = removes.length === 0 ? '' : ` REMOVE ${removes.join(', ')}`;
  return {
    UpdateExpression: `SET ${sets.join(', ')}${remove}`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: toAttributes(values),
  };
}

/** @throws {ItemFormatError} when the item is newer than this code, or is not an item of this kind */
export function readItem<K extends AggregateKind>(kind: K, item: Item): Loaded<Records[K]> {
  const raw = fromAttributes(item);
  const { format, writeId, revision } = raw;
  const record: unknown = raw['record'];
  if (typeof format !== 'number' || format > FORMAT || format < FORMAT_OLDEST) {
    throw new ItemFormatError(
      `${kind} item has format ${String(format)}; this version reads ${FORMAT_OLDEST} to ${FORMAT}: deploy the version that wrote it`,
    );
  }
  if (!isRecordOf(kind, record) || record.revision !== revision)
    throw new ItemFormatError(`not a whole ${kind} item: it was changed by hand`);
  return { record, writeId: typeof writeId === 'string' ? writeId : '' };
}

/** The table holds what `writeOf` wrote: the kind and the revision tell that this is such a record. */
function isRecordOf<K extends AggregateKind>(kind: K, value: unknown): value is Records[K] {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind && 'revision' in value;
}
