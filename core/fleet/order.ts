/**
 * What needs attention first: the one order of the summary, the lists and the page (DESIGN section 6). Items say
 * themselves why a person should look at them; this sorts, and nothing else does.
 */
import type { GroupJson, NodeJson, VmJson } from '../contract/answers.ts';
import { ATTENTION_CODES, type AttentionCode, type NodePhase, type PrintableStatus } from '../contract/words.ts';

/** What moves comes after what is in trouble, and what rests comes last. A word that is not known here comes first. */
const PHASES: readonly NodePhase[] = ['Monitoring', 'Updating', 'WaitingForWindow', 'Queued', 'Idle'];
const STATUSES: readonly PrintableStatus[] = ['Stopping', 'Starting', 'Running', 'Completed', 'Stopped'];

/** What a phase tells where a control plane before this one says nothing of attention. */
const OF_PHASE: Partial<Record<NodePhase, AttentionCode>> = {
  Unreachable: 'Unreachable',
  BackingOff: 'Crashed',
  Recovering: 'Recovering',
  Held: 'Held',
};
const OF_STATUS: Partial<Record<PrintableStatus, AttentionCode>> = {
  CrashLoopBackOff: 'CrashLoop',
  Failed: 'Failed',
  Unknown: 'Unknown',
  Terminating: 'Terminating',
};

/** 0 is the worst; a code that is not known here is from a newer control plane, and worse than all that are. */
export const attentionRank = (code: AttentionCode): number => ATTENTION_CODES.indexOf(code);

const rankOf = <W>(code: AttentionCode | undefined, word: W, words: readonly W[]): number =>
  code === undefined ? ATTENTION_CODES.length + 1 + words.indexOf(word) : attentionRank(code);

/** Why a person should look at a node; what it does not say itself (a control plane of a release before) is told by its state. */
export function nodeAttentionCode({
  attention,
  phase,
  crash,
  status,
  waitingFor,
}: NodeJson): AttentionCode | undefined {
  const checkFailed = status?.updateCheck.result === 'Failed' ? 'UpdateCheckFailed' : undefined;
  const crashed = crash.count > 0 ? 'Crashed' : undefined;
  const gaveUp = waitingFor?.code === 'GaveUp' ? 'GaveUp' : undefined;
  return attention?.code ?? gaveUp ?? OF_PHASE[phase] ?? crashed ?? checkFailed;
}

/** As that of a node. */
export const vmAttentionCode = ({ attention, printableStatus }: VmJson): AttentionCode | undefined =>
  attention?.code ?? OF_STATUS[printableStatus];

const nodeRank = (node: NodeJson): number => rankOf(nodeAttentionCode(node), node.phase, PHASES);

const vmRank = (vm: VmJson): number => rankOf(vmAttentionCode(vm), vm.printableStatus, STATUSES);

const failures = ({ startFailure, unstableRuns }: VmJson): number =>
  (startFailure?.consecutiveFailCount ?? 0) + (unstableRuns?.count ?? 0);

const byId = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What needs attention first, then the most crashes, then by id. */
export const compareNodes = (a: NodeJson, b: NodeJson): number =>
  nodeRank(a) - nodeRank(b) || b.crash.count - a.crash.count || byId(a.nodeId, b.nodeId);

/** What needs attention first, then the most failures, then by id. */
export const compareVms = (a: VmJson, b: VmJson): number =>
  vmRank(a) - vmRank(b) || failures(b) - failures(a) || byId(a.vmId, b.vmId);

/** What needs attention first, then what moves, then by name. */
export function compareGroups(a: GroupJson, b: GroupJson): number {
  const rank = ({ attention, breakers, paused, underWay }: GroupJson): number => {
    const code = attention?.code ?? (breakers.length > 0 ? 'BreakerOpen' : paused ? 'Paused' : undefined);
    return rankOf(code, underWay.length === 0, [false, true]);
  };
  return rank(a) - rank(b) || byId(a.group, b.group);
}
