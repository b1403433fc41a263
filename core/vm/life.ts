/** The lives of a VM: how an instance is made, told to end, and ends. Each function takes a VM and returns a new one. */
import type { Fact } from '../decision/fact.ts';
import type { InstanceId } from '../kit/ids.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, type Duration, type Instant, milliseconds } from '../kit/time.ts';
import { WAKE_REPEATS } from '../node/record.ts';
import { countEnd, keepEvidence } from './failures.ts';
import { type End, type Evidence, note, plan, type VmStep, type VmTime } from './step.ts';
import {
  hostOf,
  type Instance,
  INSTANCES_KEPT,
  keepsRecords,
  live,
  type LiveInstance,
  UNCOUNTED_CAUSES,
  type VmRecord,
  waitsForHost,
} from './record.ts';

const firstRepeat = (now: Instant): Instant => after(now, WAKE_REPEATS[0]);

/** What the ids of the instances of one declaration begin with. */
export const instancePrefix = (uid: string): string => `${uid.slice(0, 8)}-`;

/** A wait cut to the cap, in the records that show it too. */
function bounded(vm: VmRecord, notBefore: Instant): VmRecord {
  const cut = (at: Instant): Instant => (at > notBefore ? notBefore : at);
  const { startFailure, unstableRuns } = vm;
  return {
    ...vm,
    pendingStart: { ...vm.pendingStart, notBefore },
    startFailure: startFailure === null ? null : { ...startFailure, retryAfter: cut(startFailure.retryAfter) },
    unstableRuns:
      unstableRuns === null
        ? null
        : { ...unstableRuns, retryAfter: unstableRuns.retryAfter === null ? null : cut(unstableRuns.retryAfter) },
  };
}

/**
 * Starts the next instance if one is wanted, its time has come, and the end of the one before is known (rules 2, 5, 6).
 * A wait is never longer than the cap, whatever a clock or a hand did to the record.
 */
export function startIfDue(vm: VmRecord, { now, draw }: VmTime): VmStep {
  if (vm.awaitingHost != null || waitsForHost(vm) || vm.lostHost != null) return { vm, facts: [] };
  if (vm.pendingStart === null || vm.deleting !== null || !vm.power.on) return { vm, facts: [] };
  const latest = after(now, vmPolicyOf(vm.body).backoff.cap);
  const notBefore = vm.pendingStart.notBefore > latest ? latest : vm.pendingStart.notBefore;
  if (now < notBefore || live(vm.instance)) {
    return notBefore === vm.pendingStart.notBefore ? { vm, facts: [] } : { vm: bounded(vm, notBefore), facts: [] };
  }
  // The draw's id is hexadecimal, which the pattern of an instance id allows.
  const instanceId = `${instancePrefix(vm.uid)}${draw.id}` as InstanceId;
  const instance: Instance = { ...newInstance(instanceId, now), nextWakeAt: firstRepeat(now) };
  return {
    vm: {
      ...vm,
      instance,
      pendingStart: null,
      previousInstances: retired(vm),
      restartCount: vm.restartCount + (vm.instance === null || vm.instance.neverMade === true ? 0 : 1),
      wakeFailure: null,
    },
    facts: [
      { kind: 'wake', hostId: hostOf(vm), action: 'StartInstance', generation: null, decided: true },
      note('VM Instance Started', `instance ${instance.instanceId} asked of host ${hostOf(vm)}`),
    ],
  };
}

/** An instance of which nothing is known but that it is. */
export const newInstance = (instanceId: InstanceId, now: Instant): Instance => ({
  instanceId,
  phase: 'Pending',
  since: now,
  createdAt: now,
  everRunning: false,
  runningSince: null,
  cause: null,
  stop: null,
  startDeadlineAt: null,
  timedOutAt: null,
  nextWakeAt: null,
  wakesRepeated: 0,
});

export const retired = (vm: VmRecord): InstanceId[] =>
  vm.instance === null
    ? vm.previousInstances
    : [...vm.previousInstances, vm.instance.instanceId].slice(-INSTANCES_KEPT);

/**
 * Tells a live instance to end because somebody asked, or for its host; a shorter grace given later holds, and what a
 * person asks for stands above the host's need.
 */
export function askToEnd(vm: VmRecord, grace: Duration, now: Instant, forHost = false): VmStep {
  const { instance } = vm;
  if (!live(instance)) return { vm, facts: [] };
  if (instance.stop !== null) {
    // The host's need asks only for what nobody has told to end: whoever asks again is a person.
    const { stop } = instance;
    if (grace >= stop.grace && stop.forHost !== true) return { vm, facts: [] };
    const shortest = milliseconds(Math.min(grace, stop.grace));
    return {
      vm: { ...vm, instance: { ...instance, stop: { at: stop.at, grace: shortest } } },
      facts: [wakeToStop(vm, false)],
    };
  }
  const stop = { at: now, grace, ...(forHost ? { forHost } : {}) };
  const stopped: Instance = { ...instance, stop, nextWakeAt: firstRepeat(now), wakesRepeated: 0 };
  // An instance that timed out has been told to end already: the command is decided once.
  return { vm: { ...vm, instance: stopped }, facts: [wakeToStop(vm, instance.timedOutAt === null)] };
}

export const wakeToStop = (vm: VmRecord, decided: boolean): Fact => ({
  kind: 'wake',
  hostId: hostOf(vm),
  action: 'StopInstance',
  generation: null,
  decided,
});

/** The present instance has ended: it is counted if it must be, and a next one is planned if the strategy wants one. */
export function endInstance(vm: VmRecord, end: End, time: VmTime): VmStep {
  const { instance } = vm;
  const { now } = time;
  if (!live(instance)) return { vm, facts: [] };
  const forHost = isForHost(instance, end);
  const asked = instance.stop !== null && instance.stop.forHost !== true;
  const cause = forHost
    ? 'HostMaintenance'
    : asked
      ? 'Requested'
      : instance.timedOutAt !== null
        ? 'LaunchTimeout'
        : end.cause;
  const ended: Instance = {
    ...instance,
    phase: end.phase,
    since: now,
    cause,
    everRunning: instance.everRunning || end.ran !== null,
    nextWakeAt: null,
    startDeadlineAt: null,
    askHostAt: null,
    condition: null,
  };
  const closed: VmRecord = { ...vm, instance: ended, wakeFailure: null };
  const said = note(
    'VM Ended',
    `instance ${instance.instanceId} ${end.phase}: ${cause}${end.message === null ? '' : `: ${end.message}`}`,
  );
  if (forHost) return { vm: awaitHost(closed, now), facts: [said] };
  if (asked) return { vm: closed, facts: [said] };
  if (instance.timedOutAt !== null) return { vm: keepEvidence(closed, end, cause, now), facts: [said] };
  const uncounted = UNCOUNTED_CAUSES.includes(cause);
  const wantsNext = wantsRestart(vm, end.phase);
  if (!wantsNext) {
    const failed = end.phase === 'Failed' && !uncounted;
    return { vm: failed ? keepEvidence(closed, end, cause, now) : closed, facts: [said] };
  }
  if (uncounted) return { vm: plan(closed, now), facts: [said] };
  const counted = countEnd(
    cause === 'HostLost' ? closed : { ...closed, hostLosses: 0 },
    instance,
    { ...end, cause },
    end.ran,
    time,
  );
  return { vm: counted.vm, facts: [said, ...counted.facts] };
}

/** It ended for its host, and for no other reason that anybody knows: a guest that had ended by itself is not run again. */
function isForHost({ stop, timedOutAt }: Instance, { cause, byItself }: End): boolean {
  if (timedOutAt !== null) return false;
  return stop === null ? cause === 'HostMaintenance' : stop.forHost === true && byItself !== true;
}

/** Started again under every strategy, and not counted (rule 10). */
const awaitHost = (vm: VmRecord, now: Instant): VmRecord =>
  vm.power.on ? { ...vm, pendingStart: { notBefore: now, promised: true } } : vm;

/** Always restarts after any end, RerunOnFailure after Failed; the others never by themselves. */
function wantsRestart(vm: VmRecord, phase: 'Succeeded' | 'Failed'): boolean {
  if (!vm.power.on || vm.deleting !== null) return false;
  if (vm.body.runStrategy === 'Always') return true;
  return vm.body.runStrategy === 'RerunOnFailure' && phase === 'Failed';
}

/**
 * The start deadline passed: counted at once, told to end, and not replaced before its end is known (rule 5).
 * Strategies without records only tell it to end.
 */
export function timeOut(vm: VmRecord, instance: LiveInstance, time: VmTime): VmStep {
  const { now } = time;
  const timedOut: Instance = {
    ...instance,
    timedOutAt: now,
    cause: 'LaunchTimeout',
    startDeadlineAt: null,
    askHostAt: null,
    nextWakeAt: firstRepeat(now),
    wakesRepeated: 0,
  };
  const told: VmRecord = { ...vm, instance: timedOut };
  const message = 'not Running within its start deadline';
  const end: Evidence = { cause: 'LaunchTimeout', message, console: null };
  const stop = wakeToStop(vm, true);
  if (!keepsRecords(vm))
    return {
      vm: keepEvidence(told, end, end.cause, now),
      facts: [stop, note('VM Ended', message, 'warning')],
    };
  const counted = countEnd(told, timedOut, end, null, time);
  return { vm: counted.vm, facts: [stop, ...counted.facts] };
}
