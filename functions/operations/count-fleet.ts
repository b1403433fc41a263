/**
 * The fleet in numbers, from the indexes alone: what the summary of a large fleet says is as old as the last sweep, and
 * costs the same whatever the size of the fleet (DESIGN section 10).
 */
import type { Aggregate, Outcome } from '../../core/decision/fact.ts';
import { attentionEntries, type Troubled } from '../../core/fleet/attention.ts';
import { type FleetCount, tally } from '../../core/fleet/count.ts';
import { groupAttention } from '../../core/group/attention.ts';
import { phaseOfDigest } from '../../core/group/member-phase.ts';
import { type GroupRecord, newGroup } from '../../core/group/record.ts';
import { viewGroup } from '../../core/group/view.ts';
import { DEFAULT_GROUP, type NodeId, type VmId } from '../../core/kit/ids.ts';
import type { AttentionLine, ControlPlane } from '../ports.ts';
import { turn } from '../turn.ts';
import type { Unreadable } from '../unreadable.ts';
import { together } from './together.ts';

/** What is written anew because a release before this wrote it last, and left out what is counted of it. */
export type Untold = { nodes: NodeId[]; vms: VmId[] };

/** Groups whose members are read at a time. */
const GROUPS_AT_ONCE = 8;

export async function countFleet(
  plane: ControlPlane,
  groups: readonly GroupRecord[],
  lines: readonly AttentionLine[],
  unreadable: readonly Unreadable[],
): Promise<{ count: FleetCount; untold: Untold }> {
  const now = plane.now();
  const fallback = groups.find(({ group }) => group === DEFAULT_GROUP) ?? newGroup(DEFAULT_GROUP);
  const phases: string[] = [];
  const untold: Untold = { nodes: [], vms: [] };
  await together(groups, GROUPS_AT_ONCE, async (own) => {
    const view = viewGroup(own, fallback, now);
    for (const { nodeId, digest } of await plane.store.members(own.group)) {
      phases.push(phaseOfDigest(digest, view, now));
      if (digest !== null && digest.stage === null) untold.nodes.push(nodeId);
    }
  });
  const vms = await plane.store.vmLines();
  const told = new Set(vms.map(({ vmId }) => vmId));
  for (const vmId of await plane.store.vmIds()) if (!told.has(vmId)) untold.vms.push(vmId);
  const troubled = [
    ...unreadable.map(troubleOf),
    ...lines.flatMap((line) => line.troubled ?? []),
    ...groups.flatMap((own) => troublesOf(own, groupAttention(own, now))),
  ];
  const count = {
    at: now,
    nodes: tally(phases),
    vms: tally([...vms.map(({ status }) => status), ...untold.vms.map(() => 'Unknown')]),
    attention: attentionEntries(troubled),
  };
  return { count, untold };
}

export const troubleOf = ({ kind, id, why }: Unreadable): Troubled => ({
  kind,
  id,
  place: '',
  code: 'Unreadable',
  cause: why,
});

const troublesOf = ({ group }: GroupRecord, attention: ReturnType<typeof groupAttention>): Troubled[] =>
  attention === null ? [] : [{ kind: 'group', id: group, place: group, ...attention }];

/** So many are written anew in one sweep: the rest in the next. */
const TOLD_AT_ONCE = 400;
const WRITES_AT_ONCE = 8;

/** Writes items anew so that the indexes carry what this release counts of them; nothing else of them changes. */
export async function tellIndexes(plane: ControlPlane, { nodes, vms }: Untold, goOn: () => boolean): Promise<void> {
  await together(nodes.slice(0, TOLD_AT_ONCE), WRITES_AT_ONCE, (id) => rewrite(plane, 'node', id), goOn);
  await together(vms.slice(0, TOLD_AT_ONCE), WRITES_AT_ONCE, (id) => rewrite(plane, 'vm', id), goOn);
}

async function rewrite(plane: ControlPlane, kind: 'node' | 'vm', id: NodeId | VmId): Promise<void> {
  try {
    // The id is one of its kind: the index of that kind gave it.
    if (kind === 'node') await turn(plane, 'node', id as NodeId, again);
    else await turn(plane, 'vm', id as VmId, again);
  } catch (error) {
    plane.telemetry.warn(`${kind} ${id} could not be written anew; the next sweep tries again`, {
      error: String(error),
    });
  }
}

const again = <R extends Aggregate>(record: R | null): Outcome<R> =>
  record === null
    ? { kind: 'unchanged' }
    : { kind: 'changed', next: { ...record, revision: record.revision + 1 }, facts: [] };
