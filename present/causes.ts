/** What needs attention, grouped by its cause as the API does it: two hundred VMs that fail for one reason are one line. */
import type { GroupJson, NodeJson, Summary, VmJson } from '../core/contract/answers.ts';
import { byCause, type OneCause, sayMany, sayWhy, type Troubled } from '../core/fleet/attention.ts';
import { nodeAttentionCode, vmAttentionCode } from '../core/fleet/order.ts';
import { nodeTone, sayUpdateCheck } from './nodes.ts';
import { counted, oneLine } from './text.ts';
import type { Tone } from './tone.ts';
import { vmTone } from './vms.ts';
import { laterOf } from './when.ts';

export type Cause = {
  /** The same cause has the same key from one look to the next. */
  readonly key: string;
  readonly kind: Troubled['kind'];
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

type Found = Troubled & Pick<Cause, 'tone' | 'state' | 'why' | 'next'>;

/** In the order of attention that the API has. `summary` names what its lists do not show to be in trouble: a host that fell silent. */
export function causesOf(
  { nodes, vms, groups }: { nodes: Iterable<NodeJson>; vms: Iterable<VmJson>; groups: Iterable<GroupJson> },
  summary: Pick<Summary, 'attention'> | null = null,
): Cause[] {
  const found: Found[] = [
    ...[...nodes].flatMap(troubleOfNode),
    ...[...vms].flatMap(troubleOfVm),
    ...[...groups].flatMap(troubleOfGroup),
  ];
  const known = new Set(found.map(({ kind, id }) => `${kind} ${id}`));
  for (const { kind, id, why, code = 'Unexpected' } of summary?.attention ?? []) {
    if (!known.has(`${kind} ${id}`))
      found.push({ kind, id, code, cause: why, place: '', tone: 'warn', state: code, why, next: null });
  }
  return byCause(found).map(asCause);
}

function asCause({ key, first, all }: OneCause<Found>): Cause {
  const { kind, tone, state, why, id } = first;
  const next = all.reduce<string | null>((best, { next: at }) => earlierOf(best, at), null);
  const who = all.length === 1 ? id : sayMany(first, all.length);
  return { key, kind, tone, state, who, why, ids: all.map((one) => one.id), next };
}

/** What needs attention is never shown as if it were well. */
const atLeastWarned = (tone: Tone): Tone => (tone === 'bad' ? 'bad' : 'warn');

function troubleOfNode(node: NodeJson): Found[] {
  const code = nodeAttentionCode(node);
  if (code === undefined) return [];
  const { nodeId: id, group: place, phase, crash, attention } = node;
  const why = whyNode(node);
  const next = phase === 'BackingOff' ? crash.retryAfter : null;
  const cause = attention?.cause ?? why;
  return [
    { kind: 'node', id, place, code, cause, tone: atLeastWarned(nodeTone(node)), state: stateOfNode(node), why, next },
  ];
}

/** GaveUp is of the phase BackingOff, and more than that; an idle node whose update check fails is not well. */
function stateOfNode({ phase, waitingFor, status }: NodeJson): string {
  if (waitingFor?.code === 'GaveUp') return 'GaveUp';
  return phase === 'Idle' && status?.updateCheck.result === 'Failed' ? 'CheckFailed' : phase;
}

function whyNode({ phase, heldBy, status, crash, explanation }: NodeJson): string {
  if (phase === 'Held' && heldBy !== null) return `held by ${heldBy}`;
  if (crash.lastReason !== null) return sayReason(crash.lastReason, crash.lastMessage);
  if (phase === 'Idle' && status?.updateCheck.result === 'Failed') return oneLine(sayUpdateCheck(status.updateCheck));
  return oneLine(explanation);
}

function troubleOfVm(vm: VmJson): Found[] {
  const code = vmAttentionCode(vm);
  if (code === undefined) return [];
  const { vmId: id, hostId: place, printableStatus: state, startFailure, unstableRuns, attention } = vm;
  const last = startFailure ?? vm.lastFailure;
  const why = last === null ? oneLine(vm.explanation) : sayReason(last.reason, last.message);
  const isBackingOff = state === 'CrashLoopBackOff';
  const next = isBackingOff ? laterOf(startFailure?.retryAfter ?? null, unstableRuns?.retryAfter ?? null) : null;
  const cause = attention?.cause ?? why;
  return [{ kind: 'vm', id, place, code, cause, tone: atLeastWarned(vmTone(vm)), state, why, next }];
}

/** A group says the first of its troubles itself; a stopped version and a pause are shown beside it. */
function troubleOfGroup({ group, breakers, paused, attention, explanation }: GroupJson): Found[] {
  const of = ({ code, cause }: Pick<Found, 'code' | 'cause'>, tone: Tone, why?: string): Found => {
    const trouble = { kind: 'group' as const, id: group, place: group, code, cause };
    return { ...trouble, tone, state: code, why: why ?? sayWhy(trouble, 1), next: null };
  };
  const stopped = breakers.map(
    ({ version, nodes }) => `${version} is stopped: ${counted(nodes.length, 'node')} crashed on it`,
  );
  return [
    ...(stopped.length === 0 ? [] : [of({ code: 'BreakerOpen', cause: '' }, 'bad', stopped.join('; '))]),
    ...(attention === undefined || attention.code === 'BreakerOpen' || attention.code === 'Paused'
      ? []
      : [of(attention, attention.code === 'AlarmRinging' ? 'bad' : 'warn')]),
    ...(paused ? [of({ code: 'Paused', cause: '' }, 'warn', oneLine(explanation))] : []),
  ];
}

const sayReason = (reason: string, message: string | null): string =>
  message === null ? reason : `${reason}: ${oneLine(message)}`;

function earlierOf(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return laterOf(a, b) === a ? b : a;
}
