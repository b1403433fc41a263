/**
 * Who may speak for a VM, and whom its present record still concerns (DESIGN sections 3 and 6): judged in the turn itself, on
 * the record that is decided on, so that a report that changes nothing is one read.
 */
import type { VmReport } from '../contract/agent-bodies.ts';
import { type Outcome, refused, unchanged } from '../decision/fact.ts';
import { hostOf, live, type VmRecord } from './record.ts';

/**
 * The outcome of a report that is not to be observed; null when it is.
 * @param hostId who reports; absent: the VM's own host
 */
export function mayReport(
  vmId: string,
  vm: VmRecord | null,
  report: VmReport,
  hostId: string | undefined,
): Outcome<VmRecord> | null {
  if (vm === null || vm.removed !== null) return ofNobody(vmId, vm, report, hostId);
  // While its host is awaited any host may have it.
  if (vm.awaitingHost != null || hostId === undefined || hostOf(vm) === hostId) return null;
  return isLeft(vm, report) ? unchanged : notItsHost(vm, hostId);
}

/** After a restore any host is listened to; one that was not believed learns that it is not the VM's host. */
export function stranger(
  vm: VmRecord,
  report: VmReport,
  hostId: string,
): Extract<Outcome<VmRecord>, { kind: 'refused' }> | null {
  return hostOf(vm) === hostId || isOver(vm, report) ? null : notItsHost(vm, hostId);
}

const notItsHost = (vm: VmRecord, hostId: string): Extract<Outcome<VmRecord>, { kind: 'refused' }> =>
  refused(403, 'NotYourVm', `VM ${vm.vmId} does not run on node ${hostId}`);

/** Of a VM that is not declared only what we started is told to end; what nobody declared is left alone. */
function ofNobody(vmId: string, vm: VmRecord | null, report: VmReport, hostId: string | undefined): Outcome<VmRecord> {
  const knew = vm?.previousInstances.some((id) => id === report.instanceId) === true;
  const ours =
    report.uid !== undefined ||
    (vm !== null && knew && (hostId === undefined || hostOf(vm) === hostId)) ||
    vm?.instance?.instanceId === report.instanceId;
  if (ours) return unchanged;
  return refused(404, 'VmNotFound', `there is no VM ${vmId}; an instance that nobody declared is left alone`);
}

/** An instance of another declaration, or one whose end is known: a host that was left is told to end it, and nothing more. */
function isOver(vm: VmRecord, { uid, instanceId }: VmReport): boolean {
  if (uid !== undefined && uid !== vm.uid) return true;
  const ended = vm.instance !== null && !live(vm.instance) && vm.instance.instanceId === instanceId;
  return ended || vm.previousInstances.some((id) => id === instanceId);
}

/** The same, or one that carries the declaration's uid and is not the present one: started by us, and nobody waits for it. */
export const isLeft = (vm: VmRecord, report: VmReport): boolean =>
  isOver(vm, report) || (report.uid !== undefined && report.instanceId !== vm.instance?.instanceId);
