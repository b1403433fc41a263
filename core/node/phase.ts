/** The one word for where a node is (DESIGN section 2 rule 10, and section 2b). */
import type { NodePhase, WaitingCode } from '../contract/words.ts';
import type { GroupView } from '../group/view.ts';
import type { Instant } from '../kit/time.ts';
import { ranAlready } from '../rollout/gates.ts';
import { offerOf } from './offer.ts';
import type { NodeRecord } from './record.ts';
import { isStopped } from './signs.ts';
import { waitsFor } from './waits-for.ts';

const PHASE_WHILE: Readonly<Record<WaitingCode, NodePhase>> = {
  Held: 'Held',
  GaveUp: 'BackingOff',
  BackingOff: 'BackingOff',
  VersionNotAllowed: 'Idle',
  VersionBlocked: 'Idle',
  BreakerOpen: 'Queued',
  VersionTooYoung: 'Queued',
  WaitsForGroup: 'Queued',
  Paused: 'Queued',
  AlarmRinging: 'Queued',
  OutsideWindow: 'WaitingForWindow',
  OtherZone: 'Queued',
  TooManyDown: 'Queued',
  VmBlocksMaintenance: 'Queued',
  NoSlot: 'Queued',
};

/** The first that matches. */
export function nodePhase(node: NodeRecord, group: GroupView, now: Instant): NodePhase {
  const { spec, crash } = node;
  const offer = offerOf(node);
  if (isStopped(node)) return node.heldBy === null ? 'Idle' : 'Held';
  if (node.unreachableSince !== null) return 'Unreachable';
  if (isRecovering(node)) return node.attempt?.succeeded === true ? 'Monitoring' : 'Recovering';
  const [first] = waitsFor(node, group, now);
  if (first !== undefined) return PHASE_WHILE[first.code];
  if (node.heldBy !== null) return 'Held';
  if (spec.state === 'MonitoringUpdate') return 'Monitoring';
  if (spec.state !== 'Idle') return 'Updating';
  if (offer.kind !== 'notReported' && crash.retryAfter !== null && now < crash.retryAfter) return 'BackingOff';
  return offer.kind === 'newer' && ranAlready(node, group, now) === null ? 'Queued' : 'Idle';
}

/** Idle is owed: after a crash, a withdrawal, or at the end of an update. */
export const isRecovering = ({ spec, status }: NodeRecord): boolean =>
  spec.state === 'Idle' && status !== null && (spec.reachedAt === null || status.state !== 'Idle');
