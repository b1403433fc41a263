/** Groups as people read them. */
import type { GroupJson } from '../../core/contract/answers.ts';
import type { Field } from '../../present/fields.ts';
import { separated, table, type Column, type Surface } from '../../present/table.ts';
import type { Tone } from '../../present/tone.ts';

export const groupTone = (group: GroupJson): Tone =>
  group.paused ? 'warn' : group.underWay.length > 0 ? 'busy' : 'good';

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

/** Every field of a group, its explanation first. */
export function groupFields(group: GroupJson): Field[] {
  const { policy } = group;
  return [
    { label: 'Explanation', text: group.explanation, tone: groupTone(group) },
    { label: 'Group', text: group.group },
    { label: 'Declared', text: group.declared ? 'yes' : 'no: the policy is that of default' },
    { label: 'State', text: groupState(group), tone: groupTone(group) },
    { label: 'Nodes', text: group.memberCount === null ? 'not counted yet' : String(group.memberCount) },
    { label: 'Limit', text: sayLimit(group) },
    { label: 'Under way', text: group.underWay.join(', ') || 'none' },
    { label: 'Concurrency', text: String(policy.maxConcurrentUpdates) },
    { label: 'Back-off', text: pairs(policy.backoff) },
    { label: 'Deadlines', text: pairs(policy.deadlines) },
    { label: 'Soak time', text: policy.monitor.soak },
    { label: 'Health checks', text: policy.monitor.checks.map(sayCheck).join(', ') || 'none' },
    { label: 'On failure', text: policy.monitor.onFailure },
    { label: 'Drain', text: policy.drain === null ? 'none' : sayDrain(policy.drain) },
  ];
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
