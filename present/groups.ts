/** Groups as people read them. */
import type { GroupJson } from '../core/contract/answers.ts';
import { compareGroups } from '../core/fleet/order.ts';
import { refusedFields, type Field } from './fields.ts';
import { separated, table, type Column, type Surface } from './table.ts';
import { counted } from './text.ts';
import type { Tone } from './tone.ts';
import type { When } from './when.ts';

/** A breaker that is open is what to look at; a pause is somebody's wish. */
export const groupTone = (group: GroupJson): Tone =>
  group.breakers.length > 0
    ? 'bad'
    : group.attention !== undefined || group.paused
      ? 'warn'
      : group.underWay.length > 0
        ? 'busy'
        : 'good';

export const groupState = (group: GroupJson): string =>
  group.paused ? 'paused' : group.underWay.length > 0 ? 'updating' : 'quiet';

const COLUMNS: readonly Column[] = [
  { title: 'GROUP' },
  { title: 'STATE' },
  { title: 'NODES', align: 'right', drop: 1 },
  { title: 'UNDER WAY', align: 'right' },
  { title: 'LIMIT', align: 'right' },
  { title: 'WHY' },
];

/** The groups in the order in which a person looks at them: in trouble first, then what moves, then by name. */
export const groupsByAttention = (groups: readonly GroupJson[]): GroupJson[] => groups.toSorted(compareGroups);

/** A table of groups, in the order given. */
export const groupTable = (groups: readonly GroupJson[], surface: Surface): string =>
  table(
    COLUMNS,
    groups.map((group) => [
      { text: group.group },
      { text: groupState(group), tone: groupTone(group) },
      { text: group.memberCount === null ? '?' : String(group.memberCount) },
      { text: String(group.underWay.length) },
      { text: sayLimit(group) },
      { text: group.explanation },
    ]),
    surface,
  );

/** The columns of `groupRows`, for help texts. */
export const GROUP_ROW = 'group state declared memberCount underWayCount limit maxConcurrentUpdates explanation';

/** Tab-separated rows of groups, in the order given. */
export const groupRows = (groups: readonly GroupJson[]): string =>
  separated(
    groups.map((group) => [
      group.group,
      groupState(group),
      group.declared ? 'declared' : 'undeclared',
      group.memberCount === null ? '' : String(group.memberCount),
      String(group.underWay.length),
      group.limit === null ? 'unlimited' : String(group.limit),
      String(group.policy.maxConcurrentUpdates),
      group.explanation,
    ]),
  );

/** Every field of a group, its explanation first, then what its rollout stands at. */
export function groupFields(group: GroupJson, when: When): Field[] {
  const { policy } = group;
  return [
    { label: 'Explanation', text: group.explanation, tone: groupTone(group) },
    { label: 'Group', text: group.group },
    { label: 'Declared', text: group.declared ? 'yes' : 'no: the policy is that of default' },
    { label: 'State', text: groupState(group), tone: groupTone(group) },
    { label: 'Nodes', text: group.memberCount === null ? 'not counted yet' : String(group.memberCount) },
    { label: 'Limit', text: sayLimit(group) },
    { label: 'Under way', text: group.underWay.join(', ') || 'none' },
    ...rolloutFields(group, when),
    { label: 'Concurrency', text: String(policy.maxConcurrentUpdates) },
    { label: 'Back-off', text: pairs(policy.backoff) },
    { label: 'Deadlines', text: pairs(policy.deadlines) },
    { label: 'Soak time', text: policy.monitor.soak },
    { label: 'Health checks', text: policy.monitor.checks.map(sayCheck).join(', ') || 'none' },
    { label: 'On failure', text: policy.monitor.onFailure },
    { label: 'Drain', text: policy.drain === null ? 'none' : sayDrain(policy.drain) },
    ...refusedFields(group.can),
  ];
}

/** What stands in the way of its nodes, or has been let past, and how far each version is. */
function rolloutFields(group: GroupJson, when: When): Field[] {
  return [
    {
      label: 'Window',
      text: sayWindow(group.window, when),
      tone: group.window.open ? undefined : group.window.frozen === undefined ? 'quiet' : 'warn',
    },
    ...group.alarms.map(({ name, state }) => ({
      label: 'Alarm',
      text:
        state === 'ALARM'
          ? `${name} rings: the group halts`
          : `${name}: ${state === 'OK' ? 'OK' : 'CloudWatch has none of that name, or has not been asked yet'}`,
      ...(state === 'OK' ? {} : { tone: state === 'ALARM' ? ('bad' as const) : ('warn' as const) }),
    })),
    ...(group.zone === undefined ? [] : [{ label: 'Zone', text: `${group.zone} is updated now` }]),
    ...group.breakers.map((breaker) => ({
      label: 'Breaker',
      text: `open for ${breaker.version} since ${when(breaker.openedAt)}: ${breaker.nodes.join(', ')} crashed on it`,
      tone: 'bad' as const,
    })),
    ...group.expedited.map((one) => ({
      label: 'Expedited',
      text: `${one.version} by ${one.by}, until ${when(one.until)}`,
      tone: 'warn' as const,
    })),
    ...group.settled.map((one) => ({ label: 'Settled', text: `on ${one.version} since ${when(one.since)}` })),
    ...rolloutCounts(group, when),
  ];
}

function sayWindow({ open, opensAt, closesAt, openedBy, frozen }: GroupJson['window'], when: When): string {
  if (frozen !== undefined)
    return `frozen until ${when(frozen.to)}${frozen.reason === undefined ? '' : `: ${frozen.reason}`}`;
  if (!open) return opensAt === undefined ? 'closed' : `closed; opens ${when(opensAt)}`;
  const by = openedBy === undefined ? 'open' : `opened by ${openedBy}`;
  return closesAt === undefined ? by : `${by}; nothing begins after ${when(closesAt)}`;
}

function rolloutCounts({ rollout }: GroupJson, when: When): Field[] {
  if (rollout === null) return [{ label: 'Rollout', text: 'not counted yet' }];
  const targets = Object.entries(rollout.target).map(([version, { done, underWay, waiting, failed }]): Field => {
    const total = done + underWay + waiting + failed;
    return {
      label: 'Rollout',
      text: `${version}: ${done} of ${counted(total, 'node')} done, ${underWay} under way, ${waiting} waiting, ${failed} failed`,
      tone: failed > 0 ? 'warn' : undefined,
    };
  });
  return [...targets, { label: 'Counted', text: when(rollout.at) }];
}

const sayLimit = (group: GroupJson): string => (group.limit === null ? 'unlimited' : String(group.limit));

type Policy = GroupJson['policy'];

/** "kubelet (systemd kubelet.service)" */
function sayCheck(check: Policy['monitor']['checks'][number]): string {
  switch (check.type) {
    case 'systemd':
      return `${check.name} (systemd ${check.unit})`;
    case 'http':
      return `${check.name} (${check.scheme ?? 'http'} port ${check.port} ${check.path ?? '/'})`;
    case 'tcp':
      return `${check.name} (tcp port ${check.port})`;
    case 'exec':
      return `${check.name} (hook ${check.hook})`;
  }
}

function sayDrain({ steps, timeout, onTimeout }: NonNullable<Policy['drain']>): string {
  const said = steps.map((step) => {
    if (step.type === 'exec') return `hook ${step.hook}${step.undo === undefined ? '' : `, undone by ${step.undo}`}`;
    return step.type === 'loadBalancer' ? `${step.targetGroups.length} target group(s)` : step.type;
  });
  return `${said.join(', then ') || 'none'}; not done in ${timeout}: ${onTimeout}`;
}

const pairs = (record: object): string =>
  Object.entries(record)
    .map(([key, value]) => `${key} ${String(value)}`)
    .join(', ');
