/** What the fleet's own records tell of the machinery: the sweep, the waits that should have ended, the agents. */
import type { NodeJson, Summary, VmJson } from '../../core/contract/answers.ts';
import { SWEEP_MINUTES } from '../../core/contract/names.ts';
import { saySkew, VERSION } from '../../core/contract/skew.ts';
import { between, type Instant, minutes, parseInstant, sayDuration, seconds } from '../../core/kit/time.ts';
import { counted } from '../../present/text.ts';
import { fail, type Finding, ok, unchecked, warn } from './finding.ts';

/** As the alarm `sweep-missing` has it. */
const SWEEP_LATE = minutes(15);
/** A lost timer is made good by the next sweep, a lost sweep by the one after it. */
const OVERDUE = minutes(2 * SWEEP_MINUTES + 1);
/** So many ids are named. */
const NAMED = 3;

const named = (ids: readonly string[]): string =>
  ids.length <= NAMED ? ids.join(', ') : `${ids.slice(0, NAMED).join(', ')} and ${ids.length - NAMED} more`;

/** What was read of a list, and whether there is more than that. */
export type Read<T> = { readonly items: readonly T[]; readonly more: boolean };

export function judgeSweep({ sweptAt, at = sweptAt }: Summary, now: Instant): Finding {
  const last = at === undefined ? null : parseInstant(at);
  if (last === null) {
    return unchecked(
      'sweep',
      'the control plane does not say when it last swept: none has completed yet, or it is of an older release',
      'ask again in 5 min',
    );
  }
  const age = between(last, now);
  const says = age < seconds(1) ? 'completed just now' : `completed ${sayDuration(age)} ago`;
  return age < SWEEP_LATE
    ? ok('sweep', says)
    : fail(
        'sweep',
        `${says}: nothing repairs lost timers, and no count is fresh`,
        'see docs/runbooks/sweep-missing.md',
      );
}

/** Waits that were to end long ago, and have not: timers were lost and no sweep has stood in for them. */
export function judgeSchedules(nodes: Read<NodeJson>, vms: Read<VmJson>, now: Instant): Finding {
  const isOverdue = (until: string | null | undefined): boolean => {
    const at = until == null ? null : parseInstant(until);
    return at !== null && between(at, now) > OVERDUE;
  };
  const late = [
    ...nodes.items.filter((node) => isOverdue(node.waitingFor?.until)).map(({ nodeId }) => nodeId),
    ...vms.items.filter((vm) => vm.power.on && vm.instance === null && isOverdue(retryOf(vm))).map(({ vmId }) => vmId),
  ];
  if (late.length > 0) {
    return fail(
      'schedules',
      `${counted(late.length, 'wait', 'waits')} should have ended more than ${sayDuration(OVERDUE)} ago: ${named(late)}`,
      'see docs/runbooks/timers-lost.md and docs/runbooks/sweep-missing.md; what is late starts with the next sweep',
    );
  }
  return ok('schedules', `no wait is overdue${ofFirst(nodes, vms)}`);
}

const retryOf = ({ startFailure, unstableRuns }: VmJson): string | null =>
  startFailure?.retryAfter ?? unstableRuns?.retryAfter ?? null;

/** Versions of agents beside the one that this program is of. */
export function judgeAgents(nodes: Read<NodeJson>): Finding {
  const versions = new Map<string, string[]>();
  for (const { nodeId, status } of nodes.items) {
    if (status === null) continue;
    const version = status.agentVersion ?? 'an unknown version';
    versions.set(version, [...(versions.get(version) ?? []), nodeId]);
  }
  if (nodes.items.length === 0) return unchecked('agents', 'no node has reported yet');
  if (versions.size === 0) return unchecked('agents', 'no node has said yet which agent it runs');
  const says = [...versions]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([version, ids]) => `${version} on ${counted(ids.length, 'node', 'nodes')}`)
    .join(', ');
  const far = [...versions].flatMap(([version, ids]) => (saySkew(version) === null ? [] : ids));
  if (far.length > 0) {
    return warn(
      'agents',
      `${says}; more than one minor version from ${VERSION}: ${named(far)}`,
      'update agents and control plane, one after the other, to one release (docs/deploy.md)',
    );
  }
  return ok('agents', `${says}${ofFirst(nodes)}`);
}

const ofFirst = (...lists: readonly Read<unknown>[]): string => {
  const cut = lists.filter(({ more }) => more);
  return cut.length === 0 ? '' : ` (of the first ${Math.max(...cut.map(({ items }) => items.length))} that were read)`;
};
