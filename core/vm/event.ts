/** What can happen to a VM, and what deciding on it needs to know. */
import type { VmBody, VmReport } from '../contract.ts';
import type { Draw } from '../fact.ts';
import type { VmId } from '../ids.ts';
import type { Duration, Instant } from '../time.ts';

export type VmEvent =
  | { kind: 'put'; body: VmBody }
  | { kind: 'start' }
  | { kind: 'stop'; grace: Duration | null }
  | { kind: 'restart' }
  | { kind: 'delete'; force: boolean }
  | { kind: 'report'; report: VmReport; hostId?: string }
  /** The host fetched the launch definition: it has taken the instance on. */
  | { kind: 'launchFetched'; instanceId: string }
  | { kind: 'due' }
  | { kind: 'hostSilent'; hostId: string }
  /** The host was off at that instant; with `asOf`, at that one, and may have come back since. */
  | { kind: 'hostFenced'; hostId: string; at: Instant; asOf?: Instant }
  /** A host's first report after a recovery. */
  | { kind: 'hostReported'; hostId: string }
  | { kind: 'recover'; at: Instant; settle: Duration }
  | { kind: 'wakeFailed'; status: string };

export type VmContext = { vmId: VmId; now: Instant; draw: Draw };
