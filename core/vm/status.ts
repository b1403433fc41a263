/** The one word for where a VM is (DESIGN section 3 rule 3). */
import type { PrintableStatus } from '../contract/words.ts';
import { live, type VmRecord, waitsForHost } from './record.ts';

/** The first status that matches (rule 3). CrashLoopBackOff only while a retry is really planned. */
export function printableStatus(vm: VmRecord): PrintableStatus {
  const { instance, body } = vm;
  if (vm.deleting !== null) return 'Terminating';
  if (
    vm.awaitingHost != null &&
    vm.power.on &&
    (!live(instance) || (instance.stop === null && instance.timedOutAt === null))
  )
    return vm.pendingStart === null && !live(instance) ? 'Stopped' : 'Unknown';
  if (live(instance)) {
    if (instance.stop !== null) return 'Stopping';
    if (instance.timedOutAt !== null)
      return vm.pendingStart !== null && hasFailures(vm) ? 'CrashLoopBackOff' : 'Stopping';
    if (instance.phase === 'Running') return 'Running';
    return instance.phase === 'Unknown' ? 'Unknown' : 'Starting';
  }
  const held = waitsForHost(vm) || vm.lostHost != null;
  if (vm.pendingStart !== null && vm.power.on) return held && !hasFailures(vm) ? 'Starting' : 'CrashLoopBackOff';
  if (vm.gaveUpAt != null) return 'Failed';
  if (body.runStrategy === 'Once' && vm.power.on && instance?.phase === 'Succeeded') return 'Completed';
  if (body.runStrategy === 'Once' && vm.power.on && instance?.phase === 'Failed') return 'Failed';
  return 'Stopped';
}

/** Failures are recorded: what is planned is a retry, not a start that somebody asked for. */
const hasFailures = (vm: VmRecord): boolean => vm.startFailure !== null || vm.unstableRuns !== null;
