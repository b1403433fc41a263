/** What needs attention, grouped by its cause: two hundred VMs that fail for one reason are one line. */
import type { GroupJson, NodeJson, Summary, VmJson } from '../core/contract/answers.ts';
import { nodeTone, sayUpdateCheck } from './nodes.ts';
import { ATTENTION_CODES, type AttentionCode } from '../core/contract/words.ts';
import { counted, oneLine } from './text.ts';
import type { Tone } from './tone.ts';
import { vmTone } from './vms.ts';
import { laterOf } from './when.ts';

export type Kind = 'node' | 'vm' | 'group';

export type Cause = {
  /** The same cause has the same key from one look to the next. */
  readonly key: string;
  readonly kind: Kind;
  readonly tone: Tone;
  /** The state they share: `BackingOff`. */
  readonly state: string;
  /** `200 VMs of host i-e`, or the one thing it is about. */
  readonly who: string;
  readonly why: string;
  readonly ids: readonly string[];
  /** The first instant at which one of them is tried again; null when none is known. */
  readonly next: string | null;
};

type Found = Omit<Cause, 'who' | 'ids' | 'key'> & {
  readonly id: string;
  readonly place: string;
  /** Its place in the one order of attention. */
  readonly rank: number;
};

/** A control plane of a release before tells no code: what is bad comes after what is worse than a crash loop. */
function rankOf(code: AttentionCode | undefined, tone: Tone): number {
  if (code !== undefined) return ATTENTION_CODES.indexOf(code);
  return tone === 'bad' ? ATTENTION_CODES.indexOf('CrashLoop') : ATTENTION_CODES.length;
}

/** In the order of attention that the API has, and within it the most first. `summary` names what its lists do not show to be in trouble: a host that fell silent. */
export function causesOf(
  { nodes, vms, groups }: { nodes: Iterable<NodeJson>; vms: Iterable<VmJson>; groups: Iterable<GroupJson> },
  summary: Pick<Summary, 'attention'> | null = null,
): Cause[] {
  const found = [
    ...[...nodes].flatMap(troubleOfNode),
    ...[...vms].flatMap(troubleOfVm),
    ...[...groups].flatMap(troubleOfGroup),
  ];
  const known = new Set(found.map(({ kind, id }) => `${kind} ${id}`));
  for (const { kind, id, why, code } of summary?.attention ?? []) {
    if (known.has(`${kind} ${id}`)) continue;
    found.push({
      kind,
      id,
      tone: 'warn',
      state: code ?? 'Attention',
      why,
      place: '',
      next: null,
      rank: rankOf(code, 'warn'),
    });
  }
  return grouped(found)
    .sort((a, b) => a.rank - b.rank || b.ids.length - a.ids.length || byText(a.key, b.key))
    .map(({ rank: _place, ...cause }) => cause);
}

function grouped(found: readonly Found[]): (Cause & Pick<Found, 'rank'>)[] {
  const byKey = new Map<string, Found[]>();
  for (const one of found) {
    const key = [one.kind, one.place, one.state, withoutNumbers(one.why)].join('|');
    byKey.set(key, [...(byKey.get(key) ?? []), one]);
  }
  return [...byKey].flatMap(([key, members]) => {
    const [first] = members;
    if (first === undefined) return [];
    const next = members.reduce<string | null>((best, { next: at }) => earlierOf(best, at), null);
    const { kind, tone, state, why } = first;
    const rank = Math.min(...members.map((member) => member.rank));
    const ids = members.map(({ id }) => id);
    return [{ key, kind, tone, state, why, next, rank, who: whoOf(first, members.length), ids }];
  });
}

const NAMES: Readonly<Record<Kind, readonly [string, string]>> = {
  node: ['node', 'nodes'],
  vm: ['VM', 'VMs'],
  group: ['group', 'groups'],
};
const PLACES: Readonly<Record<Kind, string>> = { node: 'of group', vm: 'of host', group: '' };

function whoOf({ kind, id, place }: Found, count: number): string {
  if (count === 1) return id;
  return `${counted(count, ...NAMES[kind])}${place === '' ? '' : ` ${PLACES[kind]} ${place}`}`;
}

function troubleOfNode(node: NodeJson): Found[] {
  const tone = nodeTone(node);
  if (tone !== 'bad' && tone !== 'warn') return [];
  const next = node.phase === 'BackingOff' ? node.crash.retryAfter : null;
  return [
    {
      kind: 'node',
      id: node.nodeId,
      tone,
      state: stateOfNode(node),
      why: whyNode(node),
      place: node.group,
      next,
      rank: rankOf(node.attention?.code, tone),
    },
  ];
}

/** GaveUp is of the phase BackingOff, and more than that; an idle node whose update check fails is not well. */
function stateOfNode({ phase, waitingFor, status }: NodeJson): string {
  if (waitingFor?.code === 'GaveUp') return 'GaveUp';
  return phase === 'Idle' && status?.updateCheck.result === 'Failed' ? 'CheckFailed' : phase;
}

function whyNode({ phase, heldBy, status, crash, explanation }: NodeJson): string {
  if (phase === 'Held' && heldBy !== null) return `held by ${heldBy}`;
  if (phase === 'Idle' && status?.updateCheck.result === 'Failed') return oneLine(sayUpdateCheck(status.updateCheck));
  return crash.lastReason === null ? oneLine(explanation) : sayReason(crash.lastReason, crash.lastMessage);
}

function troubleOfVm(vm: VmJson): Found[] {
  const tone = vmTone(vm);
  if (tone !== 'bad' && tone !== 'warn') return [];
  const last = vm.startFailure ?? vm.lastFailure;
  const why = last === null ? oneLine(vm.explanation) : sayReason(last.reason, last.message);
  const isBackingOff = vm.printableStatus === 'CrashLoopBackOff';
  const next = isBackingOff ? laterOf(vm.startFailure?.retryAfter ?? null, vm.unstableRuns?.retryAfter ?? null) : null;
  const rank = rankOf(vm.attention?.code, tone);
  return [{ kind: 'vm', id: vm.vmId, tone, state: vm.printableStatus, why, place: vm.hostId, next, rank }];
}

function troubleOfGroup(group: GroupJson): Found[] {
  const about = { kind: 'group' as const, id: group.group, place: '', next: null };
  return [
    ...group.breakers.map((breaker) => ({
      ...about,
      tone: 'bad' as const,
      state: 'BreakerOpen',
      rank: rankOf('BreakerOpen', 'bad'),
      why: `${breaker.version} is stopped: ${counted(breaker.nodes.length, 'node')} crashed on it`,
    })),
    ...(group.attention?.code === 'AlarmRinging'
      ? [
          {
            ...about,
            tone: 'bad' as const,
            state: 'AlarmRinging',
            why: `${group.attention.cause} rings: the group halts until it is OK`,
            rank: rankOf('AlarmRinging', 'bad'),
          },
        ]
      : []),
    ...(group.paused
      ? [
          {
            ...about,
            tone: 'warn' as const,
            state: 'Paused',
            why: oneLine(group.explanation),
            rank: rankOf('Paused', 'warn'),
          },
        ]
      : []),
  ];
}

const sayReason = (reason: string, message: string | null): string =>
  message === null ? reason : `${reason}: ${oneLine(message)}`;

/** Ports, process ids and counters in a message make no other cause of it. */
const withoutNumbers = (text: string): string => text.replaceAll(/\d+/g, '#');

function earlierOf(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return laterOf(a, b) === a ? b : a;
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
