/** Whether a report is believed, and how far (DESIGN section 6). */
import type { NodeReport } from '../contract/agent-bodies.ts';
import { type Refusal, refused } from '../decision/fact.ts';
import { between, type Instant, minutes } from '../kit/time.ts';
import { newerThanTombstone } from './enrol.ts';
import type { NodeContext } from './event.ts';
import { generationFloor } from './floor.ts';
import type { NodeRecord } from './record.ts';
import { sentBeforeStop } from './signs.ts';

export type Accepted =
  | { kind: 'refused'; refusal: Refusal }
  /** Late, repeated or out of order: answered, and nothing changes. */
  | { kind: 'ignored' }
  /** The first of a node that is not known, or not any more. */
  | { kind: 'enrols' }
  /** Of an older generation: it proves only that the node lives. */
  | { kind: 'stale'; node: NodeRecord }
  | { kind: 'believed'; node: NodeRecord };

export function accept(known: NodeRecord | null, report: NodeReport, { now, recoveredAt }: NodeContext): Accepted {
  const floor = recoveredAt == null ? 1 : generationFloor(recoveredAt);
  const ours = known?.removed === null ? known.spec.generation : Math.max(known?.spec.generation ?? 1, floor);
  if (report.generation !== undefined && report.generation > ours)
    return ahead(report.generation, known === null ? null : ours);
  if (known === null) return { kind: 'enrols' };
  if (outOfOrder(known, report, now) || sentBeforeStop(known, report.bootId, now)) return { kind: 'ignored' };
  if (known.removed !== null) return { kind: newerThanTombstone(known, report) ? 'enrols' : 'ignored' };
  const stale = report.generation !== undefined && report.generation < known.spec.generation;
  return { kind: stale ? 'stale' : 'believed', node: known };
}

function ahead(generation: number, ours: number | null): Accepted {
  return refused(
    409,
    'GenerationAhead',
    `the report names generation ${generation}, ours is ${ours ?? 'none: this node is not enrolled'}; the control plane may have been restored from an older copy`,
  );
}

/**
 * No request is on its way for longer: a signature is good for five minutes, by a clock that may be five minutes off
 * (AWS IAM User Guide, "Signing AWS API requests").
 */
const OVERTAKEN_AT_MOST = minutes(15);

/**
 * A report whose boot has been replaced by another, or whose uptime is not above the last accepted one. Either is
 * believed again when nothing has been accepted for so long that it was certainly sent after that: a first report that
 * was overtaken by the next boot's makes the living boot look replaced, and a machine that was put back to a snapshot has
 * an uptime of the past.
 */
export function outOfOrder(node: NodeRecord, report: NodeReport, now: Instant): boolean {
  const { status } = node;
  if (node.previousBoots.includes(report.bootId)) return !outlived(node, now);
  if (status === null || status.bootId !== report.bootId) return false;
  const behind = report.uptime !== undefined && status.uptime !== null && report.uptime <= status.uptime;
  return behind && !outlived(node, now);
}

function outlived({ status, removed }: NodeRecord, now: Instant): boolean {
  if (status === null || removed?.how === 'terminated') return false;
  return between(status.reportedAt, now) > OVERTAKEN_AT_MOST;
}
