/** The store's twin in memory: the same conditional write, and the same index keys, always fresh. */
import type { GroupId, NodeId, VmId } from '../../core/kit/ids.ts';
import type { Instant } from '../../core/kit/time.ts';
import { indexKeys, QUEUED, UNDER_WAY } from '../../functions/keys.ts';
import { refOf } from '../../functions/effects.ts';
import type { AggregateKind, Concern, Ids, Loaded, Page, Records, Ref, Store } from '../../functions/ports.ts';

type Item = { loaded: Loaded<Records[AggregateKind]>; keys: ReturnType<typeof indexKeys>; ref: Ref };

export class MemoryStore implements Store {
  readonly #items = new Map<string, Item>();
  /** Counts writes, so that a caller can tell whether anything changed. */
  writes = 0;
  /** Told of each record written, and of what was there before. */
  onSave: (record: Records[AggregateKind], before: Records[AggregateKind] | null) => void = () => undefined;

  /** The record as it is now, without waiting. */
  peek<K extends AggregateKind>(kind: K, id: Ids[K]): Records[K] | null {
    // An item under a kind's key holds a record of that kind: `save` put it there.
    return (this.#items.get(`${kind}/${id}`)?.loaded.record as Records[K] | undefined) ?? null;
  }

  load<K extends AggregateKind>(kind: K, id: Ids[K]): Promise<Loaded<Records[K]> | null> {
    const item = this.#items.get(`${kind}/${id}`);
    // An item under a kind's key holds a record of that kind: `save` put it there.
    return Promise.resolve(item === undefined ? null : (item.loaded as Loaded<Records[K]>));
  }

  save<K extends AggregateKind>(
    kind: K,
    record: Records[K],
    expectedRevision: number,
    writeId: string,
  ): Promise<boolean> {
    const ref = refOf(record);
    const key = `${kind}/${ref.id}`;
    const before = this.#items.get(key)?.loaded.record ?? null;
    const revision = before?.revision ?? 0;
    if (revision !== expectedRevision) return Promise.resolve(false);
    this.#items.set(key, { loaded: { record, writeId }, keys: indexKeys(record), ref });
    this.writes += 1;
    this.onSave(record, before);
    return Promise.resolve(true);
  }

  list<K extends AggregateKind>(kind: K, limit: number, cursor: string | null): Promise<Page<Ids[K]>> {
    // The ids of the items of a kind are ids of that kind.
    const ids = this.#ids((item) => item.ref.kind === kind && item.keys.listed).sort() as Ids[K][];
    const rest = cursor === null ? ids : ids.filter((id) => id > cursor);
    const items = rest.slice(0, limit);
    return Promise.resolve({ items, cursor: rest.length > limit ? (items.at(-1) ?? null) : null });
  }

  queue(group: GroupId, limit: number): Promise<NodeId[]> {
    return Promise.resolve(this.#members(group, QUEUED).slice(0, limit));
  }

  underWay(group: GroupId): Promise<NodeId[]> {
    return Promise.resolve(this.#members(group, UNDER_WAY));
  }

  countMembers(group: GroupId): Promise<number> {
    return Promise.resolve(this.#members(group, '').length);
  }

  overdue(now: Instant, limitPerShard: number): Promise<Ref[]> {
    const due: { at: Instant; ref: Ref }[] = [];
    for (const { keys, ref } of this.#items.values())
      if (keys.due !== null && keys.due <= now) due.push({ at: keys.due, ref });
    return Promise.resolve(
      due
        .sort((a, b) => a.at - b.at)
        .slice(0, limitPerShard)
        .map(({ ref }) => ref),
    );
  }

  vmsOfHost(host: NodeId): Promise<VmId[]> {
    // Only VMs have a host.
    return Promise.resolve(this.#ids((item) => item.keys.host === host).sort() as VmId[]);
  }

  concerns(): Promise<{ concern: Concern; ref: Ref }[]> {
    const found: { concern: Concern; ref: Ref }[] = [];
    for (const { keys, ref } of this.#items.values()) for (const concern of keys.concerns) found.push({ concern, ref });
    return Promise.resolve(found);
  }

  /** The earliest instant at which anything stored falls due. */
  earliestDue(): Instant | null {
    let first: Instant | null = null;
    for (const { keys } of this.#items.values())
      if (keys.due !== null && (first === null || keys.due < first)) first = keys.due;
    return first;
  }

  #members(group: GroupId, prefix: string): NodeId[] {
    const members: { rank: string; id: string }[] = [];
    for (const { keys, ref } of this.#items.values()) {
      if (keys.member?.group === group && keys.member.rank.startsWith(prefix))
        members.push({ rank: keys.member.rank, id: ref.id });
    }
    // Only nodes are members.
    return members.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ id }) => id as NodeId);
  }

  #ids(wanted: (item: Item) => boolean): string[] {
    const ids: string[] = [];
    for (const item of this.#items.values()) if (wanted(item)) ids.push(item.ref.id);
    return ids;
  }
}
