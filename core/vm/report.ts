/** What a host's report about an instance does (DESIGN sections 3 and 6). */
import type { VmReport } from '../contract/agent-bodies.ts';
import type { EndCause } from '../contract/words.ts';
import type { InstanceId } from '../kit/ids.ts';
import { cut } from '../node/observe.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { tailOf } from '../kit/text.ts';
import {
  endInstance,
  instancePrefix,
  newInstance,
  note,
  startDeadlineAt,
  startIfDue,
  type VmStep,
  type VmTime,
} from './life.ts';
import { hostOf, type Instance, INSTANCES_KEPT, live, type VmRecord } from './record.ts';
import { meet } from './recover.ts';

const CONSOLE_MAX = 4000;

/** @param hostId who reports; its VM's host, unless the VM is awaited after a restore */
export function reportInstance(vm: VmRecord, report: VmReport, time: VmTime, hostId: string = hostOf(vm)): VmStep {
  if (vm.awaitingHost != null) {
    const met = meet(vm, report, hostId, time);
    if (!met.observes || !live(met.vm.instance)) return met;
    const observed = observe(met.vm, met.vm.instance, report, time);
    return { vm: observed.vm, facts: [...met.facts, ...observed.facts] };
  }
  if (report.uid !== undefined && report.uid !== vm.uid) return { vm, facts: [] };
  const adopted = adopt(vm, report, time);
  const { instance } = adopted.vm;
  if (!live(instance) || instance.instanceId !== report.instanceId) return { vm, facts: [] };
  const step = observe(adopted.vm, instance, report, time);
  return { vm: step.vm, facts: [...adopted.facts, ...step.facts] };
}

/**
 * An instance that a host runs for a VM declared later becomes that VM's instance (rule 8): only before the VM has
 * ever had one that its host took on, and never after a stop.
 */
function adopt(vm: VmRecord, report: VmReport, { now }: VmTime): VmStep {
  const final = report.phase === 'Succeeded' || report.phase === 'Failed';
  const { instance } = vm;
  const untouched = instance === null || (instance.phase === 'Pending' && instance.stop === null);
  const late = vm.previousInstances.some((id) => id === report.instanceId);
  const lived = vm.previousInstances.some((id) => id.startsWith(instancePrefix(vm.uid)));
  const first = !late && !lived && vm.lastVerb !== 'stop' && vm.deleting === null;
  if (final || !untouched || !first || instance?.instanceId === report.instanceId) return { vm, facts: [] };
  // The contract has checked the id.
  const found: Instance = newInstance(report.instanceId as InstanceId, now);
  const on = vm.body.runStrategy !== 'Halted';
  return {
    vm: {
      ...vm,
      instance: on ? found : { ...found, stop: { at: now, grace: vmPolicyOf(vm.body).grace } },
      power: { ...vm.power, on },
      pendingStart: null,
      previousInstances:
        instance === null
          ? vm.previousInstances
          : [...vm.previousInstances, instance.instanceId].slice(-INSTANCES_KEPT),
    },
    facts: [note('VM Adopted', `instance ${report.instanceId} was already running on its host and is adopted`)],
  };
}

function observe(vm: VmRecord, instance: Instance, report: VmReport, time: VmTime): VmStep {
  const { now } = time;
  switch (report.phase) {
    case 'Pending':
      return { vm, facts: [] };
    case 'Scheduled':
      return takenOn(vm, instance, time);
    case 'Running':
      return running(vm, instance, time);
    case 'Succeeded':
    case 'Failed': {
      const ended = endInstance(
        vm,
        {
          phase: report.phase,
          cause: report.cause ?? presumedCause(instance, report.phase),
          message: report.message === undefined || report.message === '' ? null : cut(report.message),
          console: report.console === undefined || report.console === '' ? null : tailOf(report.console, CONSOLE_MAX),
        },
        time,
      );
      const next = startIfDue(ended.vm, { now, draw: time.draw });
      return { vm: next.vm, facts: [...ended.facts, ...next.facts] };
    }
  }
}

/** The cause of an end that the agent did not name. */
function presumedCause(instance: Instance, phase: 'Succeeded' | 'Failed'): EndCause {
  if (phase === 'Succeeded') return 'GuestShutdown';
  return instance.everRunning ? 'Unknown' : 'LaunchFailed';
}

/** The host took the instance on: its start deadline runs from here (rule 5). */
export function takenOn(vm: VmRecord, instance: Instance, time: VmTime): VmStep {
  if (instance.phase === 'Unknown' && !instance.everRunning) {
    // After a restore no deadline ran: it runs from here again. Otherwise the one that was set holds.
    const restored = vm.recoveredAt !== undefined && instance.startDeadlineAt === null;
    const untold = instance.stop === null && instance.timedOutAt === null;
    const deadline = restored && untold ? startDeadlineAt(vm, time) : instance.startDeadlineAt;
    return {
      vm: { ...vm, instance: { ...instance, phase: 'Scheduled', since: time.now, startDeadlineAt: deadline } },
      facts: [],
    };
  }
  if (instance.phase !== 'Pending') return { vm, facts: [] };
  const untold = instance.stop === null && instance.timedOutAt === null;
  return {
    vm: {
      ...vm,
      instance: {
        ...instance,
        phase: 'Scheduled',
        since: time.now,
        startDeadlineAt: untold ? startDeadlineAt(vm, time) : null,
        nextWakeAt: untold ? null : instance.nextWakeAt,
      },
    },
    facts: [],
  };
}

function running(vm: VmRecord, instance: Instance, { now }: VmTime): VmStep {
  if (instance.timedOutAt !== null || instance.phase === 'Running') return { vm, facts: [] };
  const again = instance.everRunning;
  const asked = instance.stop !== null;
  const next: Instance = {
    ...instance,
    phase: 'Running',
    since: now,
    everRunning: true,
    runningSince: instance.runningSince ?? now,
    startDeadlineAt: null,
    nextWakeAt: asked ? instance.nextWakeAt : null,
  };
  const recovered = vm.startFailure !== null;
  return {
    vm: { ...vm, instance: next, startFailure: null },
    facts: recovered
      ? [note('VM Recovered', `Running after ${vm.startFailure?.consecutiveFailCount ?? 0} start failures`)]
      : again
        ? []
        : [note('VM Running', `instance ${instance.instanceId} is Running`)],
  };
}
