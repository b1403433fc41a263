/** What a host is told of a VM: whether an instance is to run, within which limits, and what a person wants to see of it. */
import type { DesiredVm, HostVm } from '../contract/agent-answers.ts';
import { between, type Instant } from '../kit/time.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { consoleWantedUntil } from './console.ts';
import { live, type VmRecord, waitsForHost } from './record.ts';

/** Whether an instance is to run: off for every one that is stopped, timed out, deleted, or not ours (section 6). */
export function desiredFor(vm: VmRecord | null, instanceId: string, uid: string | undefined): DesiredVm {
  if (vm === null || vm.removed !== null || (uid !== undefined && uid !== vm.uid)) return { power: 'off', instanceId };
  const { instance } = vm;
  if (!live(instance) || instance.instanceId !== instanceId) return { power: 'off', instanceId };
  if (instance.stop !== null) return { power: 'off', instanceId, graceSeconds: instance.stop.grace / 1000 };
  if (instance.timedOutAt !== null) return { power: 'off', instanceId, graceSeconds: 0 };
  return { power: 'on', instanceId };
}

/** A line of a host's list as it is kept in the index: with instants where the host is told what is left until then. */
export type KeptLine = Omit<HostVm, 'startDeadlineSeconds' | 'consoleAsked'> & {
  deadlineAt: Instant | null;
  consoleUntil: Instant | null;
};

/** What a host is told of a VM: its live instance, to run or to end; nothing when none is to be there. */
export function keptLine(vm: VmRecord): KeptLine | null {
  // A host that is awaited after a restore is told nothing: what it runs is left where it is.
  if (vm.removed !== null || vm.awaitingHost != null || !live(vm.instance)) return null;
  // What a host has not taken on before its update, it takes on after.
  const { phase, stop } = vm.instance;
  if ((waitsForHost(vm) || vm.lostHost != null) && phase === 'Pending' && stop === null) return null;
  const { instanceId, power, graceSeconds } = desiredFor(vm, vm.instance.instanceId, undefined);
  const { lease, grace } = vmPolicyOf(vm.body);
  return {
    vmId: vm.vmId,
    uid: vm.uid,
    power,
    instanceId,
    launchRevision: vm.launchRevision,
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
    ...(lease === null
      ? {}
      : { leaseSeconds: lease / 1000, ...(power === 'on' ? { graceSeconds: grace / 1000 } : {}) }),
    deadlineAt: power === 'on' ? vm.instance.startDeadlineAt : null,
    consoleUntil: consoleWantedUntil(vm),
  };
}

/** The line as it is said at an instant. */
export function lineAt({ deadlineAt, consoleUntil, ...line }: KeptLine, now: Instant): HostVm {
  return {
    ...line,
    ...(deadlineAt === null ? {} : { startDeadlineSeconds: Math.max(1, between(now, deadlineAt) / 1000) }),
    ...(consoleUntil !== null && now < consoleUntil ? { consoleAsked: true } : {}),
  };
}

/** What a host is told of a VM now. */
export function hostLine(vm: VmRecord, now: Instant): HostVm | null {
  const line = keptLine(vm);
  return line === null ? null : lineAt(line, now);
}
