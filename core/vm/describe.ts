/** A VM as the API and its host see it: the same record that decides also explains. */
import { canOfVm } from '../contract/can.ts';
import type { VmJson } from '../contract/answers.ts';
import { formatInstant, type Instant } from '../kit/time.ts';
import { vmAttention } from './attention.ts';
import { hostOf, type VmRecord } from './record.ts';
import { explain } from './explain.ts';
import { HOST_LOSSES_OF_NOTE } from './hosts.ts';
import { printableStatus } from './status.ts';
import { verbState } from './verbs.ts';

export function describeVm(vm: VmRecord, now: Instant): VmJson {
  const { instance, startFailure, unstableRuns, lastFailure } = vm;
  const attention = vmAttention(vm);
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
    declared: vm.body,
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
    ...(attention === null ? {} : { attention }),
    explanation: `${explain(vm, now)}${sayHostLosses(vm)}`,
  };
}

/** That the VM may be what takes its host down; empty where nothing speaks for it. */
const sayHostLosses = ({ hostLosses = 0 }: VmRecord): string =>
  hostLosses < HOST_LOSSES_OF_NOTE
    ? ''
    : ` It ended with its host ${hostLosses} times in a row, each within stableFor: it may be what takes its host down.`;
