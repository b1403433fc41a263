/** The index keys of each record: what proposes it for a queue, a sweep, a listing or a gauge (docs/data-model.md). */
import type { Attention } from '../core/contract/answer-parts.ts';
import { ATTENTION_CODES } from '../core/contract/words.ts';
import { groupDueAt } from '../core/group/group.ts';
import { type NodeId, parseNodeId } from '../core/kit/ids.ts';
import { parseRef } from '../core/kit/ref.ts';
import { wellFormed } from '../core/kit/text.ts';
import { nodeAttention } from '../core/node/attention.ts';
import { digestOf, readDigest } from '../core/node/digest.ts';
import { queueKey } from '../core/node/queue.ts';
import { type NodeRecord, waitsStaged } from '../core/node/record.ts';
import { nodeConcerns, nodeDueAt } from '../core/node/timing.ts';
import type { Instant } from '../core/kit/time.ts';
import { vmAttention } from '../core/vm/attention.ts';
import { hostEntry, type HostEntry } from '../core/vm/host-entry.ts';
import { hostOf, type VmRecord } from '../core/vm/record.ts';
import { printableStatus } from '../core/vm/status.ts';
import { inCrashLoop, vmDueAt } from '../core/vm/timing.ts';
import { refOf } from './effects.ts';
import {
  type AggregateKind,
  type AttentionLine,
  type Choose,
  type Concern,
  CONCERNS,
  type MemberLine,
  type Records,
} from './ports.ts';

export type IndexKeys = {
  /** In the listing, unless it is only a tombstone. */
  listed: boolean;
  /** A node's place in its group: queued in order, under way, or neither. */
  member: { group: string; rank: string; digest: string } | null;
  due: Instant | null;
  concerns: Concern[];
  /** Why a person should look at it, and where its likes are: the group of a node, the host of a VM. */
  troubled: (Attention & { place: string }) | null;
  /** Of a VM, what is counted of it, and what its host is told of it. */
  vm: { host: string; status: string; entry: HostEntry } | null;
  host: string | null;
};

export const QUEUED = 'Q';
export const UNDER_WAY = 'U';
/** Waits staged without a slot, and not for one alone. */
export const STAGED = 'S';
export const OTHER = 'Z';

export function indexKeys(record: Records[AggregateKind]): IndexKeys {
  switch (record.kind) {
    case 'node': {
      const concerns = nodeConcerns(record);
      return {
        listed: record.removed === null,
        member:
          record.removed === null ? { group: record.group, rank: rankOf(record), digest: digestOf(record) } : null,
        due: nodeDueAt(record),
        concerns: CONCERNS.filter((concern) => concern !== 'crashLoop' && concerns[concern]),
        troubled: placed(nodeAttention(record), record.group),
        vm: null,
        host: null,
      };
    }
    case 'vm':
      return {
        listed: record.removed === null,
        member: null,
        due: vmDueAt(record),
        concerns: vmConcerns(record),
        troubled: placed(vmAttention(record), hostOf(record)),
        vm:
          record.removed === null
            ? { host: hostOf(record), status: printableStatus(record), entry: hostEntry(record) }
            : null,
        host: record.removed === null ? hostOf(record) : null,
      };
    case 'group':
      return {
        listed: true,
        member: null,
        due: groupDueAt(record),
        concerns: [],
        troubled: null,
        vm: null,
        host: null,
      };
  }
}

const placed = (attention: Attention | null, place: string): IndexKeys['troubled'] =>
  attention === null ? null : { ...attention, place };

const vmConcerns = (vm: VmRecord): Concern[] =>
  vm.removed === null && vm.gaveUpAt != null ? ['gaveUp'] : inCrashLoop(vm) ? ['crashLoop'] : [];

function rankOf(node: NodeRecord): string {
  const key = queueKey(node);
  if (key !== null) return `${QUEUED}#${key}`;
  const { attempt, nodeId } = node;
  if (attempt === null) return `${OTHER}#${nodeId}`;
  const slotless = attempt.claimId === null && !attempt.unlimited && waitsStaged(node);
  return `${slotless ? STAGED : UNDER_WAY}#${nodeId}`;
}

/** The place in the group, and behind it what a survey of the members reads. */
export const memberSort = ({ rank, digest }: { rank: string; digest: string }): string => `${rank}|${digest}`;

/** A line of a group's index, as `memberSort` wrote it; a release before this wrote no digest. */
export function memberLine(sort: string): MemberLine[] {
  const [rank = '', digest] = sort.split('|');
  const nodeId = parseNodeId(rank.split('#').at(-1) ?? '');
  return nodeId === null ? [] : [{ nodeId, digest: digest === undefined ? null : readDigest(nodeId, digest) }];
}

/** An index key holds 1,024 bytes; escaped a character may have nine. */
const PART_MAX = 240;

/** What follows concerns, kind and id in a line of the attention index. */
export const attentionParts = ({ code, place, cause }: Attention & { place: string }): string[] =>
  [code, place, cause].map((part) => encodeURIComponent(wellFormed(part)).slice(0, PART_MAX));

/** A release before this wrote no more than concerns, kind and id. */
export function attentionLine(sort: string): AttentionLine[] {
  const [concerns = '', kind = '', id = '', said, place = '', cause = ''] = sort.split('#');
  const ref = parseRef(kind, id);
  if (ref === null) return [];
  const code = ATTENTION_CODES.find((known) => known === said);
  return [
    {
      ref,
      concerns: CONCERNS.filter((concern) => concerns.split('+').includes(concern)),
      troubled: code === undefined ? null : { ...ref, code, place: unescaped(place), cause: unescaped(cause) },
    },
  ];
}

/** An escape that was cut at the end is left out. */
const unescaped = (text: string): string => {
  for (let end = text.length; end > 0; end -= 1) {
    try {
      return decodeURIComponent(text.slice(0, end));
    } catch {
      // A shorter head of it can be read.
    }
  }
  return '';
};

/** Those that are chosen, in their order, and within it in that of the queue. */
export const chosen = (lines: readonly MemberLine[], choose: Choose): NodeId[] =>
  lines
    .flatMap((line, place) => {
      const order = choose(line);
      return order === null ? [] : [{ nodeId: line.nodeId, order, place }];
    })
    .sort((a, b) => a.order - b.order || a.place - b.place)
    .map(({ nodeId }) => nodeId);

export { refOf };
