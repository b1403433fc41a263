/** A fleet as a forecast begins with it: what the API says of it, or what a scenario draws. */
import type { NodeJson } from '../../core/contract/answers.ts';
import type { NodeId } from '../../core/kit/ids.ts';
import { parseNodeId } from '../../core/kit/ids.ts';
import { type Instant, parseInstant } from '../../core/kit/time.ts';
import { type CrashRecord, NO_CRASH } from '../../core/node/record.ts';

export type ForecastNode = {
  nodeId: NodeId;
  group: string;
  /** Null: it names none. */
  zone: string | null;
  currentVersion: string;
  /** What it could update to; null: nothing is offered to it. */
  offered: string | null;
  crash: CrashRecord;
  blockedVersions: readonly string[];
  held: boolean;
  /** False: it has not been heard of in time, and does nothing in the forecast either. */
  answers: boolean;
};

export type Fleet = {
  nodes: readonly ForecastNode[];
  /** By group, the body of its policy. */
  groups: Readonly<Record<string, Record<string, unknown>>>;
  paused: readonly string[];
};

/** @param offered what is supposed to be offered to every node, instead of what each was offered; null: as it is */
export function nodeOf(node: NodeJson, offered: string | null): ForecastNode | null {
  const nodeId = parseNodeId(node.nodeId);
  if (nodeId === null || node.status === null) return null;
  const { status } = node;
  const its = status.updateCheck.result === 'Available' ? (status.updateCheck.version ?? null) : null;
  return {
    nodeId,
    group: node.group,
    zone: node.zone === 'none' ? null : node.zone,
    currentVersion: status.currentVersion,
    offered: offered ?? its,
    crash: crashOf(node.crash),
    blockedVersions: node.blockedVersions,
    held: node.heldBy !== null,
    answers: node.phase !== 'Unreachable',
  };
}

function crashOf({ count, lastState, lastReason, lastMessage, ...crash }: NodeJson['crash']): CrashRecord {
  const at = (text: string | null): Instant | null => (text === null ? null : parseInstant(text));
  return {
    ...NO_CRASH,
    count,
    firstAt: at(crash.firstAt),
    lastAt: at(crash.lastAt),
    retryAfter: at(crash.retryAfter),
    resetAt: at(crash.resetAt),
    lastState,
    lastReason,
    lastMessage,
  };
}
