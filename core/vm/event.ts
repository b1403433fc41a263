/** What can happen to a VM, and what deciding on it needs to know. */
import type { InstanceSeen, VmReport } from '../contract/agent-bodies.ts';
import type { VmBody } from '../contract/operator-bodies.ts';
import type { Draw } from '../decision/fact.ts';
import type { NodeId, VmId } from '../kit/ids.ts';
import { after, type Duration, type Instant } from '../kit/time.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { longestHold } from './lease.ts';
import { live, notTakenOn, type VmRecord, waitsForHost } from './record.ts';

export type VmEvent =
  | { kind: 'put'; body: VmBody }
  | { kind: 'start' }
  | { kind: 'stop'; grace: Duration | null }
  | { kind: 'restart'; grace?: Duration | null }
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
  | { kind: 'wakeFailed'; status: string }
  /** Its host is told what it is to hold it by. */
  | { kind: 'leaseSent' }
  /** A person wants to see the last of its console. */
  | { kind: 'askConsole'; by: string };

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
  /** Since when it is fenced. */
  fencedAt?: Instant | null;
  /** Whether it has ever reported. */
  enrolled?: boolean;
  /** Its last report that was written. */
  heardAt?: Instant | null;
  /** Of a host that a declaration names: whether it is fenced, who has this domain there, and whether it starts by itself. */
  named?: { fenced: boolean; sameDomain: VmId | null; autostart: boolean };
  /** Those of the body's `hosts` that report and are in order, in the order of the body. */
  inOrder: readonly NodeId[];
};

/** Whether deciding on this event needs a look at hosts; an ordinary report never does. */
export function needsHosts(vm: VmRecord | null, event: VmEvent, now: Instant): boolean {
  if (event.kind === 'put') return true;
  if (vm === null || vm.removed !== null) return false;
  switch (event.kind) {
    case 'start':
    case 'restart':
    case 'stop':
    case 'delete':
    case 'hostFenced':
    case 'hostBooted':
      return true;
    case 'hostReported':
      return vm.lostHost != null;
    case 'hostUnheard':
      return live(vm.instance) && longestHold(vm.instance) !== null;
    case 'due':
      return looksAtHost(vm, now);
    case 'report':
      return event.report.cause === 'HostMaintenance';
    case 'launchFetched':
    case 'hostSilent':
    case 'hostMaintenance':
    case 'recover':
    case 'wakeFailed':
    case 'leaseSent':
    case 'askConsole':
      return false;
  }
}

/** Whether what falls due depends on the host. */
function looksAtHost(vm: VmRecord, now: Instant): boolean {
  const { instance } = vm;
  if (waitsForHost(vm) || vm.lostHost != null) return true;
  if (!live(instance)) return false;
  const starting = instance.startDeadlineAt !== null && now >= instance.startDeadlineAt;
  const stable = vmStableAt(vm);
  return (
    starting ||
    (stable !== null && now >= stable) ||
    instance.lease?.lookAt != null ||
    (vm.awaitingHost != null && longestHold(instance) !== null) ||
    (vm.body.restartElsewhere === true && notTakenOn(instance))
  );
}

/** When a VM with failures on record will have run for `stableFor`, as far as is known; null when there is nothing to forget. */
export function vmStableAt(vm: VmRecord): Instant | null {
  const { instance } = vm;
  if (vm.unstableRuns === null && !vm.failuresInARow && !vm.hostLosses) return null;
  if (instance?.phase !== 'Running' || instance.runningSince === null) return null;
  return after(instance.runningSince, vmPolicyOf(vm.body).stableFor);
}
