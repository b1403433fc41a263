/**
 * The sweep: nothing rests on a timer arriving, a message being delivered or a metric being kept. It handles what is
 * overdue, frees forgotten slots, fills every group, and counts the gauges anew (DESIGN sections 4 and 6).
 */
import { policyInForce } from '../../core/group/record.ts';
import type { GroupId, NodeId } from '../../core/kit/ids.ts';
import type { Duration } from '../../core/kit/time.ts';
import { type Concern, CONCERNS, type ControlPlane, type NodeRegistry } from '../ports.ts';
import { handleDue } from './due.ts';
import { fill, reclaimSlots } from './fill.ts';
import { loadGroup } from './groups.ts';
import { buryLost } from './lifecycle.ts';
import { proceedGroup } from './nodes.ts';
import { allGroups, soaksOf } from './promotion.ts';
import { surveyGroup } from './survey.ts';

export type SweepReport = { overdue: number; failed: number; slotsFreed: number; groups: number; lost: number };

const OVERDUE_PER_SHARD = 200;

const GAUGES = {
  backingOff: 'NodesBackingOff',
  unreachable: 'NodesUnreachable',
  silent: 'NodesSilent',
  gaveUp: 'GaveUp',
  blocked: 'NodesBlocked',
  crashLoop: 'VmsInCrashLoop',
} as const satisfies Record<Concern, string>;

/** @param registry asked only about nodes that have been silent for a day */
export async function sweep(plane: ControlPlane, registry: NodeRegistry): Promise<SweepReport> {
  const report: SweepReport = { overdue: 0, failed: 0, slotsFreed: 0, groups: 0, lost: 0 };
  // One item that cannot be handled must not keep the rest of the fleet waiting.
  const guard = async (what: string, act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      report.failed += 1;
      plane.telemetry.warn(`the sweep could not handle ${what}; the next one tries again`, { error: String(error) });
    }
  };
  for (const ref of await plane.store.overdue(plane.now(), OVERDUE_PER_SHARD)) {
    report.overdue += 1;
    await guard(`${ref.kind} ${ref.id}`, () => handleDue(plane, ref));
  }
  const groups = await allGroups(plane);
  const soaks = soaksOf(groups);
  for (const { group } of groups) {
    report.groups += 1;
    await guard(`group ${group}`, async () => {
      report.slotsFreed += await sweepGroup(plane, group, soaks.get(group) ?? null);
    });
  }
  let silent: NodeId[] = [];
  await guard('the gauges', async () => {
    silent = await recountGauges(plane);
  });
  await guard('nodes silent for a day', async () => {
    report.lost = await buryLost(plane, registry, silent);
  });
  const broken = groups.reduce((sum, { breaker }) => sum + (breaker?.open.length ?? 0), 0);
  plane.telemetry.metric('BreakersOpen', broken, null);
  plane.telemetry.metric('SweepCompleted', 1, null);
  plane.telemetry.metric('SweepFailures', report.failed, null);
  return report;
}

async function sweepGroup(plane: ControlPlane, group: GroupId, soak: Duration | null): Promise<number> {
  const { own, fallback } = await loadGroup(plane, group);
  const freed = await reclaimSlots(plane, own);
  await surveyGroup(plane, own, policyInForce(own, fallback), soak);
  await proceedGroup(plane, group);
  await fill(plane, group);
  return freed;
}

/** @returns the silent nodes, as the index last saw them */
async function recountGauges(plane: ControlPlane): Promise<NodeId[]> {
  const counts: Record<Concern, number> = {
    backingOff: 0,
    unreachable: 0,
    silent: 0,
    gaveUp: 0,
    blocked: 0,
    crashLoop: 0,
  };
  const found = await plane.store.concerns();
  for (const { concern } of found) counts[concern] += 1;
  for (const concern of CONCERNS) {
    plane.telemetry.metric(GAUGES[concern], counts[concern], null);
  }
  return found.flatMap(({ concern, ref }) => (concern === 'silent' && ref.kind === 'node' ? [ref.id] : []));
}
