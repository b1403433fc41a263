/**
 * `holdoff recover`, after the table was restored from an older copy: every group is paused, no VM is started before its
 * host was heard, every node gets a generation above all that were issued in the history that was lost. In pages, each
 * step of which may be repeated: whoever dies in the middle is asked again and goes on (docs/runbooks/restore.md).
 */
import { pauserOf, type Recovery } from '../../core/group/home.ts';
import type { Refusal } from '../../core/decision/fact.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import { type Duration, seconds } from '../../core/kit/time.ts';
import type { AggregateKind, ControlPlane, Ids } from '../ports.ts';
import { skipping } from '../unreadable.ts';
import { turnGroup } from './groups.ts';
import { turnNode } from './nodes.ts';
import { turnVm } from './vms.ts';

/** Groups first, so that nothing starts; VMs before nodes, so that a host that reports finds its VMs waiting for it. */
const ORDER = ['group', 'vm', 'node'] as const;

/** How many items one request handles, and how many at a time: well within the time a request has. */
const ITEMS_PER_PAGE = 120;
const AT_A_TIME = 8;

export type RecoveryPage = { recovery: Recovery; touched: Record<AggregateKind, number>; cursor: string | null };

/** @param cursor of the page before, `kind:id`; null to begin, or to begin again */
export async function recover(
  plane: ControlPlane,
  by: string,
  force: boolean,
  cursor: string | null,
): Promise<RecoveryPage | { refusal: Refusal }> {
  const { table } = plane.settings;
  const begun = await turnGroup(plane, DEFAULT_GROUP, { kind: 'recover', by, table, force: force && cursor === null });
  if (begun.kind === 'refused') return { refusal: begun.refusal };
  const recovery = begun.record?.recovery;
  const touched = { group: 0, vm: 0, node: 0 };
  if (recovery === undefined) return { refusal: { status: 409, code: 'NotRestored', detail: 'there is no recovery' } };
  if (recovery.finishedAt !== null) return { recovery, touched, cursor: null };
  const place = placeOf(cursor);
  const page = await plane.store.list(place.kind, ITEMS_PER_PAGE, place.after);
  for (let from = 0; from < page.items.length; from += AT_A_TIME) {
    const ids = page.items.slice(from, from + AT_A_TIME);
    await Promise.all(ids.map((id) => skipping(plane, place.kind, id, () => restore(plane, place.kind, id, recovery))));
  }
  touched[place.kind] = page.items.length;
  const next = page.cursor === null ? ORDER[ORDER.indexOf(place.kind) + 1] : place.kind;
  if (next !== undefined) return { recovery, touched, cursor: `${next}:${page.cursor ?? ''}` };
  const finished = await turnGroup(plane, DEFAULT_GROUP, { kind: 'recovered', table });
  return { recovery: finished.record?.recovery ?? recovery, touched, cursor: null };
}

function placeOf(cursor: string | null): { kind: AggregateKind; after: string | null } {
  const [kind = '', after = ''] =
    cursor === null ? [] : [cursor.slice(0, cursor.indexOf(':')), cursor.slice(cursor.indexOf(':') + 1)];
  return { kind: ORDER.find((known) => known === kind) ?? 'group', after: after === '' ? null : after };
}

async function restore<K extends AggregateKind>(
  plane: ControlPlane,
  kind: K,
  id: Ids[K],
  recovery: Recovery,
): Promise<void> {
  const { at } = recovery;
  // The id is one of its kind: the listing of that kind gave it.
  switch (kind) {
    case 'group':
      await turnGroup(plane, id as Ids['group'], { kind: 'pause', by: pauserOf(recovery) });
      return;
    case 'vm':
      await turnVm(plane, id as Ids['vm'], { kind: 'recover', at, settle: settleOf(plane) });
      return;
    case 'node':
      await turnNode(plane, id as Ids['node'], { kind: 'restore', at });
  }
}

/** Two reports of a host at rest, each up to a tenth late, and two minutes: whoever runs an instance has said so by then. */
const settleOf = ({ settings }: ControlPlane): Duration => seconds(Math.ceil(settings.idleReportSeconds * 2.2) + 120);
