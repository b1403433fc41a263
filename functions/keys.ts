/** The index keys of each record: what proposes it for a queue, a sweep, a listing or a gauge (docs/data-model.md). */
import { groupDueAt } from '../core/group/group.ts';
import { queueKey } from '../core/node/readiness.ts';
import { nodeConcerns, nodeDueAt } from '../core/node/timing.ts';
import type { Instant } from '../core/kit/time.ts';
import { printableStatus } from '../core/vm/describe.ts';
import { hostOf } from '../core/vm/record.ts';
import { vmDueAt } from '../core/vm/timing.ts';
import { refOf } from './effects.ts';
import type { AggregateKind, Concern, Records } from './ports.ts';

export type IndexKeys = {
  /** In the listing, unless it is only a tombstone. */
  listed: boolean;
  /** A node's place in its group: queued in order, under way, or neither. */
  member: { group: string; rank: string } | null;
  due: Instant | null;
  concerns: Concern[];
  host: string | null;
};

export const QUEUED = 'Q';
export const UNDER_WAY = 'U';
export const OTHER = 'Z';

export function indexKeys(record: Records[AggregateKind]): IndexKeys {
  switch (record.kind) {
    case 'node': {
      const concerns = nodeConcerns(record);
      const key = queueKey(record);
      const rank =
        record.attempt !== null
          ? `${UNDER_WAY}#${record.nodeId}`
          : key === null
            ? `${OTHER}#${record.nodeId}`
            : `${QUEUED}#${key}`;
      return {
        listed: record.removed === null,
        member: record.removed === null ? { group: record.group, rank } : null,
        due: nodeDueAt(record),
        concerns: [
          ...(concerns.backingOff ? (['backingOff'] as const) : []),
          ...(concerns.unreachable ? (['unreachable'] as const) : []),
          ...(concerns.silent ? (['silent'] as const) : []),
        ],
        host: null,
      };
    }
    case 'vm':
      return {
        listed: record.removed === null,
        member: null,
        due: vmDueAt(record),
        concerns: record.removed === null && printableStatus(record) === 'CrashLoopBackOff' ? ['crashLoop'] : [],
        host: record.removed === null ? hostOf(record) : null,
      };
    case 'group':
      return { listed: true, member: null, due: groupDueAt(record), concerns: [], host: null };
  }
}

export { refOf };
