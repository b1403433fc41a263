/** One item that cannot be read is one item: it is skipped, shown, counted, and the rest goes on (DESIGN section 7). */
import type { AggregateKind, ControlPlane, Ids, Records } from './ports.ts';

/** An item that this code must not touch: newer than it knows, or not what it should be. */
export class ItemFormatError extends Error {
  readonly code = 'ItemFormat';
}

export type Unreadable = { kind: AggregateKind; id: string; why: string };

const AT_A_TIME = 50;

/** @returns the records that are there, in the order of the ids, and what cannot be read */
export async function loadMany<K extends AggregateKind>(
  plane: Pick<ControlPlane, 'store' | 'telemetry'>,
  kind: K,
  ids: readonly Ids[K][],
): Promise<{ records: Records[K][]; unreadable: Unreadable[] }> {
  const records: Records[K][] = [];
  const unreadable: Unreadable[] = [];
  for (let from = 0; from < ids.length; from += AT_A_TIME) {
    const some = ids.slice(from, from + AT_A_TIME);
    const loaded = await Promise.all(some.map((id) => loadReadable(plane, kind, id)));
    for (const found of loaded) {
      if (found === null) continue;
      if ('why' in found) unreadable.push(found);
      else records.push(found.record);
    }
  }
  return { records, unreadable };
}

/** @returns null when there is none */
export async function loadReadable<K extends AggregateKind>(
  { store, telemetry }: Pick<ControlPlane, 'store' | 'telemetry'>,
  kind: K,
  id: Ids[K],
): Promise<{ record: Records[K] } | Unreadable | null> {
  try {
    return await store.load(kind, id);
  } catch (error) {
    if (!(error instanceof ItemFormatError)) throw error;
    telemetry.warn(`${kind} ${id} cannot be read and is left out; nothing is done with it`, { error: error.message });
    return { kind, id, why: error.message };
  }
}

/** Does something with one of many items; one that cannot be read is said, and left out. */
export async function skipping(
  { telemetry }: Pick<ControlPlane, 'telemetry'>,
  kind: AggregateKind,
  id: string,
  act: () => Promise<unknown>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof ItemFormatError)) throw error;
    telemetry.warn(`${kind} ${id} cannot be read and is left out; nothing is done with it`, { error: error.message });
  }
}
