/**
 * The sweep: nothing rests on a timer arriving, a message being delivered or a metric being kept. It counts the gauges
 * first of all, then handles what is overdue, frees forgotten slots and fills every group (DESIGN sections 4 and 6). It
 * stops before its time is up: what it did not come to the next one finds still due, and it begins with other groups.
 */
import { policyInForce, type GroupRecord } from '../../core/group/record.ts';
import type { GroupId, NodeId } from '../../core/kit/ids.ts';
import type { Duration, Instant } from '../../core/kit/time.ts';
import {
  type AlarmWatch,
  type AttentionLine,
  type Concern,
  CONCERNS,
  type ControlPlane,
  type NodeRegistry,
} from '../ports.ts';
import { ItemFormatError, type Unreadable } from '../unreadable.ts';
import { askAlarms } from './alarms.ts';
import { countFleet, tellIndexes, type Untold } from './count-fleet.ts';
import { handleDue } from './due.ts';
import { fill, reclaimSlots } from './fill.ts';
import { loadGroup } from './groups.ts';
import { buryLost } from './lifecycle.ts';
import { proceedGroup } from './nodes.ts';
import { readGroups, soaksOf } from './promotion.ts';
import { surveyGroup } from './survey.ts';
import { together } from './together.ts';

/** @property unfinished its time was up before it had come to everything */
export type SweepReport = {
  overdue: number;
  failed: number;
  slotsFreed: number;
  groups: number;
  lost: number;
  unfinished: boolean;
};

/** More than is handled in one sweep, of eight shards; what stays due is found by the next. */
const OVERDUE_PER_SHARD = 2500;
const DUE_AT_ONCE = 16;

const GAUGES = {
  backingOff: 'NodesBackingOff',
  unreachable: 'NodesUnreachable',
  silent: 'NodesSilent',
  gaveUp: 'GaveUp',
  blocked: 'NodesBlocked',
  crashLoop: 'VmsInCrashLoop',
} as const satisfies Record<Concern, string>;

/** What the sweep asks besides the table. */
type Services = { registry: NodeRegistry; watch: AlarmWatch };

/**
 * @param registry asked only about nodes that have been silent for a day
 * @param watch asked only where a group listens to an alarm
 * @param until nothing new is begun from then on; null: there is time enough
 */
export async function sweep(
  plane: ControlPlane,
  { registry, watch }: Services,
  until: Instant | null = null,
): Promise<SweepReport> {
  const report: SweepReport = { overdue: 0, failed: 0, slotsFreed: 0, groups: 0, lost: 0, unfinished: false };
  const unreadable: Unreadable[] = [];
  // One item that cannot be handled must not keep the rest of the fleet waiting.
  const guard = async (what: string, act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      report.failed += 1;
      plane.telemetry.warn(`the sweep could not handle ${what}; the next one tries again`, { error: String(error) });
    }
  };
  const goOn = (): boolean => {
    if (until === null || plane.now() < until) return true;
    report.unfinished = true;
    return false;
  };
  const known = await readGroups(plane);
  unreadable.push(...known.unreadable);
  let lines: AttentionLine[] = [];
  await guard('the gauges', async () => {
    lines = await plane.store.attention();
    recountGauges(plane, lines, known.groups);
  });
  let untold: Untold = { nodes: [], vms: [] };
  const count = (): Promise<void> =>
    guard('the count of the fleet', async () => {
      const counted = await countFleet(plane, known.groups, lines, unreadable);
      ({ untold } = counted);
      await plane.store.saveFleet(counted.count);
    });
  await count();
  const readBefore = unreadable.length;
  const due = await plane.store.overdue(plane.now(), OVERDUE_PER_SHARD);
  report.overdue = await together(
    due,
    DUE_AT_ONCE,
    (ref) =>
      guard(`${ref.kind} ${ref.id}`, async () => {
        try {
          await handleDue(plane, ref);
        } catch (error) {
          if (error instanceof ItemFormatError) unreadable.push({ kind: ref.kind, id: ref.id, why: error.message });
          throw error;
        }
      }),
    goOn,
  );
  await guard('the alarms that groups listen to', () => askAlarms(plane, watch, known.groups));
  const soaks = soaksOf(known.groups);
  const first = until === null ? 0 : plane.draw().delay;
  for (const { group } of inTurn(known.groups, first)) {
    if (!goOn()) break;
    report.groups += 1;
    await guard(`group ${group}`, async () => {
      report.slotsFreed += await sweepGroup(plane, group, soaks.get(group) ?? null);
    });
  }
  if (unreadable.length > readBefore) await count();
  report.failed += known.unreadable.length;
  if (goOn()) {
    const silent = silentOf(lines);
    await guard('nodes silent for a day', async () => {
      report.lost = await buryLost(plane, registry, silent);
    });
    await tellIndexes(plane, untold, goOn);
  }
  plane.telemetry.metric('SweepCompleted', 1, null);
  plane.telemetry.metric('SweepFailures', report.failed, null);
  return report;
}

/** Any group may be the first: where time runs out again and again none is always the last. */
const inTurn = (groups: readonly GroupRecord[], draw: number): GroupRecord[] => {
  const from = Math.floor(draw * groups.length);
  return [...groups.slice(from), ...groups.slice(0, from)];
};

async function sweepGroup(plane: ControlPlane, group: GroupId, soak: Duration | null): Promise<number> {
  const { own, fallback } = await loadGroup(plane, group);
  const freed = await reclaimSlots(plane, own);
  await surveyGroup(plane, own, policyInForce(own, fallback), soak);
  await proceedGroup(plane, group);
  await fill(plane, group);
  return freed;
}

function recountGauges(plane: ControlPlane, lines: readonly AttentionLine[], groups: readonly GroupRecord[]): void {
  for (const concern of CONCERNS) {
    const there = lines.filter(({ concerns }) => concerns.includes(concern)).length;
    plane.telemetry.metric(GAUGES[concern], there, null);
  }
  const broken = groups.reduce((sum, { breaker }) => sum + (breaker?.open.length ?? 0), 0);
  plane.telemetry.metric('BreakersOpen', broken, null);
}

/** The silent nodes, as the index last saw them. */
const silentOf = (lines: readonly AttentionLine[]): NodeId[] =>
  lines.flatMap(({ concerns, ref }) => (concerns.includes('silent') && ref.kind === 'node' ? [ref.id] : []));
