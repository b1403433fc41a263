/** What a host's report about an instance does (DESIGN sections 3 and 6). */
import type { VmReport } from '../contract/agent-bodies.ts';
import type { EndCause } from '../contract/words.ts';
import type { InstanceId } from '../kit/ids.ts';
import { cut } from '../node/observe.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { tailOf } from '../kit/text.ts';
import { after, type Instant, instant, milliseconds } from '../kit/time.ts';
import { forgotten, ranFor } from './failures.ts';
import { endInstance, instancePrefix, newInstance, startIfDue } from './life.ts';
import { hostOf, type Instance, INSTANCES_KEPT, live, type LiveInstance, type VmRecord } from './record.ts';
import { keepConsole } from './console.ts';
import { meet } from './recover.ts';
import { judgeStart, ranTooLate, startDeadlineAt } from './start-deadline.ts';
import { note, same, type VmStep, type VmTime } from './step.ts';

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
  const kept = keepConsole(adopted.vm, instance, report, time.now);
  const step = observe(kept.vm, instance, report, time);
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

function observe(vm: VmRecord, instance: LiveInstance, report: VmReport, time: VmTime): VmStep {
  const { now } = time;
  switch (report.phase) {
    case 'Pending':
      return { vm, facts: [] };
    case 'Scheduled': {
      const taken = takenOn(vm, instance, time);
      const judged = judgeStart(taken.vm, time);
      return { vm: judged.vm, facts: [...taken.facts, ...judged.facts] };
    }
    case 'Running':
      return running(vm, instance, report.ranSeconds, time);
    case 'Succeeded':
    case 'Failed': {
      const ended = endInstance(
        vm,
        {
          phase: report.phase,
          cause: report.cause ?? presumedCause(instance, report.phase),
          message: report.message === undefined || report.message === '' ? null : cut(report.message),
          console: report.console === undefined || report.console === '' ? null : tailOf(report.console, CONSOLE_MAX),
          ran: ranFor(instance, report.ranSeconds, now),
          byItself: report.cause !== undefined && BY_ITSELF.includes(report.cause),
        },
        time,
      );
      const next = startIfDue(ended.vm, { now, draw: time.draw });
      return { vm: next.vm, facts: [...ended.facts, ...next.facts] };
    }
  }
}

/** Ends that a guest comes to without anybody asking, whatever was being asked of it at the time. */
const BY_ITSELF: readonly EndCause[] = [
  'GuestShutdown',
  'GuestPanic',
  'GuestReset',
  'LaunchFailed',
  'LaunchTimeout',
  'Killed',
  'Unhealthy',
];

/** The cause of an end that the agent did not name. */
function presumedCause(instance: Instance, phase: 'Succeeded' | 'Failed'): EndCause {
  if (phase === 'Succeeded') return 'GuestShutdown';
  return instance.everRunning ? 'Unknown' : 'LaunchFailed';
}

/** The host took the instance on: its start deadline runs from here (rule 5). */
export function takenOn(vm: VmRecord, instance: LiveInstance, time: VmTime): VmStep {
  const { now } = time;
  const untold = instance.stop === null && instance.timedOutAt === null;
  if (instance.phase === 'Unknown' && !instance.everRunning) {
    // After a restore no deadline ran: it runs from here again. Otherwise the one that was set holds.
    const restored = vm.recoveredAt !== undefined && instance.startDeadlineAt === null;
    const deadline = restored && untold ? startDeadlineAt(vm, now, time) : instance.startDeadlineAt;
    return same({ ...vm, instance: { ...instance, phase: 'Scheduled', since: now, startDeadlineAt: deadline } });
  }
  if (instance.phase !== 'Pending') return same(vm);
  return same({
    ...vm,
    wakeFailure: null,
    instance: {
      ...instance,
      phase: 'Scheduled',
      since: now,
      takenOnAt: now,
      startDeadlineAt: untold ? startDeadlineAt(vm, now, time) : null,
      nextWakeAt: untold ? null : instance.nextWakeAt,
    },
  });
}

/** @param ranSeconds how long it has been Running, as its host counts; undefined: since about now */
export function running(vm: VmRecord, instance: LiveInstance, ranSeconds: number | undefined, time: VmTime): VmStep {
  const { now } = time;
  const knows = ranSeconds === undefined || instance.tellsRun === true;
  const heard: LiveInstance = knows ? instance : { ...instance, tellsRun: true };
  const noted: VmRecord = knows ? vm : { ...vm, instance: heard };
  if (instance.timedOutAt !== null) return same(vm);
  if (instance.phase === 'Running') return forgetAfterRun(noted, ranSeconds, now);
  // Not Running by its deadline, though it is now: it is told to end.
  if (ranTooLate(noted, ranSeconds, now)) return judgeStart(noted, time);
  const began = beganAt(instance, ranSeconds, now);
  const next: Instance = {
    ...heard,
    phase: 'Running',
    since: now,
    takenOnAt: instance.takenOnAt ?? (instance.phase === 'Pending' ? began : instance.createdAt),
    everRunning: true,
    runningSince: instance.runningSince ?? began,
    startDeadlineAt: null,
    askHostAt: null,
    nextWakeAt: instance.stop === null ? null : instance.nextWakeAt,
  };
  const counted = vm.startFailure?.consecutiveFailCount ?? null;
  const started: VmRecord = { ...noted, instance: next, startFailure: null, wakeFailure: null };
  const stable = forgetAfterRun(started, ranSeconds, now);
  if (counted !== null)
    return { vm: stable.vm, facts: [note('VM Recovered', `Running after ${counted} start failures`), ...stable.facts] };
  const first = instance.everRunning ? [] : [note('VM Running', `instance ${instance.instanceId} is Running`)];
  return { vm: stable.vm, facts: [...first, ...stable.facts] };
}

/** By the host's clock, but not before it can have begun. */
function beganAt({ createdAt }: Instance, ranSeconds: number | undefined, now: Instant): Instant {
  const began = ranSeconds === undefined ? now : instant(Math.round(now - ranSeconds * 1000));
  return began < createdAt ? createdAt : began;
}

/**
 * Clears the record of a VM that has run for `stableFor`: on its host's word only, from after that time (rule 2).
 * @param ranSeconds as its host counts; undefined: an older agent, which was heard now and says no end of it
 */
export function forgetAfterRun(vm: VmRecord, ranSeconds: number | undefined, now: Instant): VmStep {
  const { instance } = vm;
  if (instance?.phase !== 'Running' || instance.runningSince === null) return same(vm);
  if (ranSeconds === undefined && instance.tellsRun === true) return same(vm);
  const stableAt = after(instance.runningSince, vmPolicyOf(vm.body).stableFor);
  const stable =
    ranSeconds === undefined ? now >= stableAt : milliseconds(ranSeconds * 1000) >= vmPolicyOf(vm.body).stableFor;
  const next = stable ? forgotten(vm) : vm;
  if (next === vm) return same(vm);
  const count = vm.unstableRuns?.count;
  return {
    vm: { ...next, instance: { ...instance, askHostAt: null } },
    facts: count === undefined ? [] : [note('VM Recovered', `stable again after ${count} unstable runs`)],
  };
}
