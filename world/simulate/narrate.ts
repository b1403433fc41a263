/** What a write changed, why, and what is waited for since: in words, for the timeline of a simulation. */
import { describeGroup } from '../../core/group/describe.ts';
import { type GroupRecord, newGroup } from '../../core/group/record.ts';
import { type GroupView, viewGroup } from '../../core/group/view.ts';
import { DEFAULT_GROUP, type GroupId } from '../../core/kit/ids.ts';
import { describeNode } from '../../core/node/describe.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import type { Instant } from '../../core/kit/time.ts';
import { describeVm } from '../../core/vm/describe.ts';
import { live, type VmRecord } from '../../core/vm/record.ts';
import type { AggregateKind, Records } from '../../functions/ports.ts';

/** Reads a group as it is stored now. */
export type GroupReader = (group: GroupId) => GroupRecord | null;

/** `[name, before, after]`; null where there was or is nothing. */
export type Change = readonly [name: string, before: string | null, after: string | null];
export type Narration = { changes: Change[]; why: string };

type AnyRecord = Records[AggregateKind];
type Facets = { shown: Record<string, string | null>; why: string };

/** What a person would see of the change from one record to the next. */
export function narrate(before: AnyRecord | null, after: AnyRecord, now: Instant, groups: GroupReader): Narration {
  const old = before === null ? {} : facetsOf(before, now, groups).shown;
  const { shown, why } = facetsOf(after, now, groups);
  const changes = Object.keys(shown).flatMap((name): Change[] => {
    const [was, is] = [old[name] ?? null, shown[name] ?? null];
    return was === is ? [] : [[name, was, is]];
  });
  return { changes, why };
}

function facetsOf(record: AnyRecord, now: Instant, groups: GroupReader): Facets {
  switch (record.kind) {
    case 'vm':
      return vmFacets(record, now);
    case 'node':
      return nodeFacets(record, now, groups);
    case 'group':
      return groupFacets(record, now, groups);
  }
}

function vmFacets(vm: VmRecord, now: Instant): Facets {
  if (vm.removed !== null) return { shown: { status: 'removed' }, why: 'its record is gone' };
  const shown = describeVm(vm, now);
  return {
    shown: {
      status: shown.printableStatus,
      instance: shown.instance === null ? null : `${shown.instance.instanceId} ${shown.instance.phase}`,
      'start failures': count(shown.startFailure?.consecutiveFailCount),
      'unstable runs': count(shown.unstableRuns?.count),
      power: shown.power.on ? 'on' : 'off',
      'run strategy': shown.runStrategy,
    },
    why: shown.explanation,
  };
}

const count = (of: number | undefined): string => String(of ?? 0);

function nodeFacets(node: NodeRecord, now: Instant, groups: GroupReader): Facets {
  if (node.removed !== null) return { shown: { phase: 'removed' }, why: node.removed.reason };
  const shown = describeNode(node, viewOf(node.group, groups, now), now);
  return {
    shown: {
      phase: shown.phase,
      spec: `${shown.spec.state} (generation ${shown.spec.generation})`,
      status: shown.status?.state ?? null,
      version: shown.status?.currentVersion ?? null,
      crashes: String(shown.crash.count),
      'blocked versions': shown.blockedVersions.length === 0 ? null : shown.blockedVersions.join(', '),
      'held by': shown.heldBy,
      group: shown.group,
    },
    why: shown.explanation,
  };
}

function groupFacets(group: GroupRecord, now: Instant, groups: GroupReader): Facets {
  const shown = describeGroup(group, groups(DEFAULT_GROUP) ?? newGroup(DEFAULT_GROUP), now);
  return {
    shown: {
      paused: shown.paused ? 'yes' : 'no',
      'may be under way': shown.limit === null ? 'any number' : String(shown.limit),
      'slots held by': shown.underWay.length === 0 ? null : shown.underWay.join(', '),
    },
    why: shown.explanation,
  };
}

function viewOf(id: GroupId, groups: GroupReader, now: Instant): GroupView {
  return viewGroup(groups(id) ?? newGroup(id), groups(DEFAULT_GROUP) ?? newGroup(DEFAULT_GROUP), now);
}

/** What falls due at the instant for which a record's timer is armed. */
export function waitsFor(record: AnyRecord, at: Instant, retry: boolean): string {
  if (record.kind === 'group') return 'the count of nodes without a slot';
  if (record.kind === 'vm') {
    if (retry) return 'the next start';
    const instance = live(record.instance) ? record.instance : null;
    if (instance?.startDeadlineAt === at) return 'the start deadline';
    return instance?.nextWakeAt === at ? 'the next wake of its host' : 'the run to be stable';
  }
  if (retry) return 'the next attempt';
  const { spec, crash } = record;
  if (crash.resetAt === at) return 'the crash record to be forgotten';
  if (spec.nextWakeAt === at) return 'the next wake';
  if (spec.reachedAt !== null)
    return spec.state === 'MonitoringUpdate' ? 'the report that ends the soak time' : 'the node to be heard';
  return spec.acknowledgedAt === null ? `${spec.state} to be picked up` : `the deadline of ${spec.state}`;
}
