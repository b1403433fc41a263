/** A VM as the API and its host see it: the same record that decides also explains. */
import { canOfVm } from '../contract/can.ts';
import type { VmJson } from '../contract/answers.ts';
import type { PrintableStatus } from '../contract/words.ts';
import { formatInstant, type Instant } from '../kit/time.ts';
import { hostOf, live, type VmRecord, waitsForHost } from './record.ts';
import { explain } from './explain.ts';
import { HOST_LOSSES_OF_NOTE } from './hosts.ts';
import { verbState } from './verbs.ts';

export function describeVm(vm: VmRecord, now: Instant): VmJson {
  const { instance, startFailure, unstableRuns, lastFailure } = vm;
  return {
    vmId: vm.vmId,
    uid: vm.uid,
    hostId: hostOf(vm),
    placement: {
      declaredHostId: vm.body.hostId,
      hosts: vm.body.hosts ?? [],
      restartElsewhere: vm.body.restartElsewhere ?? false,
    },
    maintenance: {
      policy: vm.body.maintenance ?? 'stop',
      since: vm.maintenance == null ? null : formatInstant(vm.maintenance.since),
    },
    runStrategy: vm.body.runStrategy,
    power: vm.power,
    instance:
      instance === null
        ? null
        : {
            instanceId: instance.instanceId,
            phase: instance.phase,
            since: formatInstant(instance.since),
            everRunning: instance.everRunning,
            cause: instance.cause,
            ...(instance.condition == null
              ? {}
              : { condition: { kind: instance.condition.kind, since: formatInstant(instance.condition.since) } }),
            ...(instance.resets === undefined ? {} : { resets: instance.resets.count }),
            ...(instance.lease?.echoed == null ? {} : { leaseSeconds: instance.lease.echoed.lease / 1000 }),
          },
    startFailure:
      startFailure === null ? null : { ...startFailure, retryAfter: formatInstant(startFailure.retryAfter) },
    unstableRuns:
      unstableRuns === null
        ? null
        : {
            count: unstableRuns.count,
            retryAfter: unstableRuns.retryAfter === null ? null : formatInstant(unstableRuns.retryAfter),
          },
    lastFailure: lastFailure === null ? null : { ...lastFailure, at: formatInstant(lastFailure.at) },
    printableStatus: printableStatus(vm),
    can: canOfVm(verbState(vm)),
    restartCount: vm.restartCount,
    failuresInARow: vm.failuresInARow ?? 0,
    explanation: explain(vm, now),
  };
}

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

/** Why a person should look at a VM that is not in a crash loop; null: no reason. */
export function vmAttention(vm: VmRecord): 'gaveUp' | 'unwell' | null {
  if (vm.removed !== null) return null;
  if (vm.gaveUpAt != null) return 'gaveUp';
  const ails = live(vm.instance) && (vm.instance.condition != null || (vm.instance.resets?.seenAt.length ?? 0) >= 3);
  return ails || (vm.hostLosses ?? 0) >= HOST_LOSSES_OF_NOTE ? 'unwell' : null;
}

/** Its explanation, and what it does not say: that the VM may be what takes its host down. */
export function sayAttention(vm: VmRecord, explanation: string): string {
  const losses = vm.hostLosses ?? 0;
  if (losses < HOST_LOSSES_OF_NOTE) return explanation;
  return `${explanation} It ended with its host ${losses} times in a row, each within stableFor: it may be what takes its host down.`;
}
