/** Nodes as people read them: a table, tab-separated rows, and one node in full. */
import type { UpdateCheck } from '../core/contract/agent-bodies.ts';
import type { NodeJson } from '../core/contract/answers.ts';
import type { NodePhase } from '../core/contract/words.ts';
import { compareNodes } from '../core/fleet/order.ts';
import { refusedFields, type Field } from './fields.ts';
import { separated, table, type Cell, type Column, type Surface } from './table.ts';
import type { Tone } from './tone.ts';
import { sayRetry, type When } from './when.ts';

const TONES: Record<NodePhase, Tone> = {
  Unreachable: 'bad',
  BackingOff: 'bad',
  Recovering: 'warn',
  Held: 'warn',
  Monitoring: 'busy',
  Updating: 'busy',
  WaitingForWindow: 'quiet',
  Queued: 'quiet',
  Idle: 'good',
};

const checkFailed = (node: NodeJson): boolean => node.status?.updateCheck.result === 'Failed';

/** The tone of a node: that of its phase, and a warning where all is quiet but its update check fails. */
export function nodeTone(node: NodeJson): Tone {
  const tone = TONES[node.phase];
  return tone === 'good' && (checkFailed(node) || node.crash.count > 0 || node.attention !== undefined) ? 'warn' : tone;
}

/** The nodes in the order in which a person looks at them: in trouble first, then the most crashes, then by id. */
export const nodesByAttention = (nodes: readonly NodeJson[]): NodeJson[] => nodes.toSorted(compareNodes);

/** The instant of the next attempt, while the node waits for one. */
const retryOf = (node: NodeJson): string | null =>
  node.phase === 'BackingOff' || node.phase === 'Recovering' ? node.crash.retryAfter : null;

/** `StagedUpdate`, or `Idle → StagedUpdate` while the node is on its way. */
function stepOf(node: NodeJson): string {
  const reported = node.status?.state ?? 'not reported';
  return reported === node.spec.state ? reported : `${reported} → ${node.spec.state}`;
}

/** `1.20.0`, or `1.20.0 → 1.21.0` while another version is wanted. */
function versionOf(node: NodeJson): string {
  const current = node.status?.currentVersion ?? '?';
  const wanted = node.spec.version;
  return wanted === null || wanted === current ? current : `${current} → ${wanted}`;
}

/** An update check in words; a failed one never reads as "up to date". */
export function sayUpdateCheck(check: UpdateCheck): string {
  if (check.result === 'UpToDate') return 'up to date';
  if (check.result === 'Available') return `${check.version ?? 'a newer version'} is available`;
  return `update check failed: ${check.message ?? 'no reason given'}`;
}

const COLUMNS: readonly Column[] = [
  { title: 'NODE' },
  { title: 'GROUP', drop: 2 },
  { title: 'PHASE' },
  { title: 'STEP', drop: 3 },
  { title: 'VERSION', drop: 4 },
  { title: 'CRASHES', align: 'right', drop: 1 },
  { title: 'NEXT', drop: 1 },
  { title: 'WHY' },
];

function cells(node: NodeJson, surface: Surface): Cell[] {
  const tone = nodeTone(node);
  return [
    { text: node.nodeId },
    { text: node.group },
    { text: node.phase, tone },
    { text: stepOf(node) },
    { text: versionOf(node) },
    { text: String(node.crash.count), tone: node.crash.count === 0 ? 'quiet' : 'bad' },
    { text: sayRetry(retryOf(node), surface.now), tone },
    { text: node.explanation },
  ];
}

/** A table of nodes, in the order given. */
export const nodeTable = (nodes: readonly NodeJson[], surface: Surface): string =>
  table(
    COLUMNS,
    nodes.map((node) => cells(node, surface)),
    surface,
  );

/** The columns of `nodeRows`, for help texts. */
export const NODE_ROW =
  'nodeId group phase specState reportedState currentVersion wantedVersion crashCount retryAfter reportedAt explanation';

/** Tab-separated rows of nodes, in the order given; instants in RFC 3339. */
export const nodeRows = (nodes: readonly NodeJson[]): string =>
  separated(
    nodes.map((node) => [
      node.nodeId,
      node.group,
      node.phase,
      node.spec.state,
      node.status?.state ?? '',
      node.status?.currentVersion ?? '',
      node.spec.version ?? '',
      String(node.crash.count),
      node.crash.retryAfter ?? '',
      node.status?.reportedAt ?? '',
      node.explanation,
    ]),
  );

/** Every field of a node: what it waits for, if it waits, then its explanation. */
export function nodeFields(node: NodeJson, when: When): Field[] {
  const { spec, status, crash } = node;
  return [
    ...waitingField(node, when),
    { label: 'Explanation', text: node.explanation, tone: nodeTone(node) },
    { label: 'Node', text: node.nodeId },
    { label: 'Phase', text: node.phase, tone: nodeTone(node) },
    { label: 'Group', text: node.group },
    { label: 'Wanted state', text: spec.state },
    { label: 'Wanted since', text: when(spec.since) },
    { label: 'Wanted version', text: spec.version ?? 'none' },
    { label: 'Generation', text: String(spec.generation) },
    ...(status === null
      ? [{ label: 'Reported state', text: 'never reported', tone: 'warn' as const }]
      : [
          { label: 'Reported state', text: status.state },
          { label: 'Reported at', text: when(status.reportedAt) },
          { label: 'Running version', text: status.currentVersion },
          {
            label: 'Update check',
            text: sayUpdateCheck(status.updateCheck),
            tone: checkFailed(node) ? ('warn' as const) : undefined,
          },
          { label: 'Boot id', text: status.bootId },
          { label: 'Agent version', text: status.agentVersion ?? 'not said' },
        ]),
    { label: 'Crashes', text: String(crash.count), tone: crash.count === 0 ? undefined : 'bad' },
    ...instantField('First crash', crash.firstAt, when),
    ...instantField('Last crash', crash.lastAt, when),
    ...textField('Failed to reach', crash.lastState),
    ...textField('Reason', crash.lastReason),
    ...textField('Message', crash.lastMessage),
    ...instantField('Retry', crash.retryAfter, when),
    ...instantField('Record cleared', crash.resetAt, when),
    { label: 'Blocked versions', text: node.blockedVersions.join(', ') || 'none' },
    { label: 'Held by', text: node.heldBy ?? 'nobody', tone: node.heldBy === null ? undefined : 'warn' },
    ...refusedFields(node.can),
  ];
}

/** Absent where it waits for nothing; a control plane of an earlier release does not say. */
const waitingField = ({ waitingFor }: NodeJson, when: When): Field[] =>
  waitingFor === null || waitingFor === undefined
    ? []
    : [
        {
          label: 'Waits for',
          text:
            waitingFor.until === undefined ? waitingFor.code : `${waitingFor.code}, until ${when(waitingFor.until)}`,
          tone: 'warn',
        },
      ];

const instantField = (label: string, at: string | null, when: When): Field[] =>
  at === null ? [] : [{ label, text: when(at) }];
const textField = (label: string, text: string | null): Field[] => (text === null ? [] : [{ label, text }]);
