/** What can happen to a VM, and what deciding on it needs to know. */
import type { InstanceSeen, VmReport } from '../contract/agent-bodies.ts';
import type { VmBody } from '../contract/operator-bodies.ts';
import type { Draw } from '../decision/fact.ts';
import type { NodeId, VmId } from '../kit/ids.ts';
import type { Duration, Instant } from '../kit/time.ts';
import { live, notTakenOn, type VmRecord, waitsForHost } from './record.ts';

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
  /** Its host goes on to a disruptive step (`begins`), or is through with it (rule 10). */
  | { kind: 'hostMaintenance'; hostId: string; begins: boolean }
  /** A report of a host, and what it says of an instance of this VM; also its first one after a recovery. */
  | { kind: 'hostReported'; hostId: string; seen?: InstanceSeen }
  /** The host was not heard for the shortest lease there. */
  | { kind: 'hostUnheard'; hostId: string; at: Instant }
  /** The host runs another boot, which began at `bootedAt`, and says that it runs what is `alive`. */
  | { kind: 'hostBooted'; hostId: string; at: Instant; bootedAt: Instant; alive: readonly string[] }
  | { kind: 'recover'; at: Instant; settle: Duration }
  | { kind: 'wakeFailed'; status: string };

export type VmContext = {
  vmId: VmId;
  now: Instant;
  draw: Draw;
  /** What is known of hosts, where the decision asks for it (`needsHosts`). */
  hosts?: HostView;
};

export type HostView = {
  /** Whether the VM's present host is between a disruptive step and its end. */
  inMaintenance: boolean;
  /** Whether it was fenced and has not come up again since. */
  fenced: boolean;
  /** Those of the body's `hosts` that report and are in order, in the order of the body. */
  inOrder: readonly NodeId[];
};

/** Whether deciding on this event needs a look at hosts; an ordinary report never does. */
export function needsHosts(vm: VmRecord | null, event: VmEvent): boolean {
  if (vm === null || vm.removed !== null) return false;
  switch (event.kind) {
    case 'hostFenced':
      return vm.body.restartElsewhere === true;
    case 'due':
      return waitsForHost(vm) || (vm.body.restartElsewhere === true && live(vm.instance) && notTakenOn(vm.instance));
    case 'report':
      return event.report.cause === 'HostMaintenance';
    case 'put':
    case 'start':
    case 'stop':
    case 'restart':
    case 'delete':
    case 'launchFetched':
    case 'hostSilent':
    case 'hostMaintenance':
    case 'hostReported':
    case 'hostUnheard':
    case 'hostBooted':
    case 'recover':
    case 'wakeFailed':
      return false;
  }
}
