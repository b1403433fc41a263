/** The lives of a VM: how an instance is made, told to end, and ends. Each function takes a VM and returns a new one. */
import { vmRetryDelay } from '../policy/backoff.ts';
import type { EndCause } from '../contract/words.ts';
import type { Draw, Fact } from '../decision/fact.ts';
import type { InstanceId } from '../kit/ids.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, between, type Duration, type Instant, instant, milliseconds, sayDuration } from '../kit/time.ts';
import { WAKE_REPEATS } from '../node/record.ts';
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

export type VmStep = { vm: VmRecord; facts: Fact[] };
export type VmTime = { now: Instant; draw: Draw };

export const note = (
  type: Extract<Fact, { kind: 'event' }>['type'],
  message: string,
  severity: 'info' | 'warning' = 'info',
): Fact => ({
  kind: 'event',
  type,
  severity,
  message,
});

const firstRepeat = (now: Instant): Instant => after(now, WAKE_REPEATS[0]);

/** What the ids of the instances of one declaration begin with. */
export const instancePrefix = (uid: string): string => `${uid.slice(0, 8)}-`;

/** A wait cut to the cap, in the records that show it too. */
function bounded(vm: VmRecord, notBefore: Instant): VmRecord {
  const cut = (at: Instant): Instant => (at > notBefore ? notBefore : at);
  const { startFailure, unstableRuns } = vm;
  return {
    ...vm,
    pendingStart: { notBefore },
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
  if (vm.awaitingHost != null || waitsForHost(vm)) return { vm, facts: [] };
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
    vm: { ...vm, instance, pendingStart: null, previousInstances: retired(vm) },
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

/** What a host or the control plane says of why an instance ended, or is to end. */
type Evidence = { cause: EndCause; message: string | null; console: string | null };
export type End = Evidence & { phase: 'Succeeded' | 'Failed' };

/** The present instance has ended: it is counted if it must be, and a next one is planned if the strategy wants one. */
export function endInstance(vm: VmRecord, end: End, time: VmTime): VmStep {
  const { instance } = vm;
  const { now } = time;
  if (!live(instance)) return { vm, facts: [] };
  const forHost = isForHost(instance, end.cause);
  const asked = instance.stop !== null && !forHost;
  const cause = forHost
    ? 'HostMaintenance'
    : asked
      ? 'Requested'
      : instance.timedOutAt !== null
        ? 'LaunchTimeout'
        : end.cause;
  const ended: Instance = { ...instance, phase: end.phase, since: now, cause, nextWakeAt: null, startDeadlineAt: null };
  const closed: VmRecord = { ...vm, instance: ended };
  const said = note(
    'VM Ended',
    `instance ${instance.instanceId} ${end.phase}: ${cause}${end.message === null ? '' : `: ${end.message}`}`,
  );
  if (forHost) return { vm: awaitHost(closed, now), facts: [said] };
  if (asked || instance.timedOutAt !== null)
    return { vm: keepEvidence(closed, end, cause, now, !asked), facts: [said] };
  const uncounted = UNCOUNTED_CAUSES.includes(cause);
  const wantsNext = wantsRestart(vm, end.phase);
  if (!wantsNext)
    return { vm: keepEvidence(closed, end, cause, now, end.phase === 'Failed' && !uncounted), facts: [said] };
  if (uncounted) return { vm: plan(closed, now), facts: [said] };
  const counted = countEnd(closed, instance, { ...end, cause }, time);
  return { vm: counted.vm, facts: [said, ...counted.facts] };
}

/** It ended for its host, and for no other reason that anybody knows. */
const isForHost = ({ stop, timedOutAt }: Instance, said: EndCause): boolean =>
  timedOutAt === null && (stop === null ? said === 'HostMaintenance' : stop.forHost === true);

/** Started again under every strategy, and neither counted nor among the restarts (rule 10). */
const awaitHost = (vm: VmRecord, now: Instant): VmRecord =>
  vm.power.on ? { ...vm, pendingStart: { notBefore: now } } : vm;

/** Always restarts after any end, RerunOnFailure after Failed; the others never by themselves. */
function wantsRestart(vm: VmRecord, phase: 'Succeeded' | 'Failed'): boolean {
  if (!vm.power.on || vm.deleting !== null) return false;
  if (vm.body.runStrategy === 'Always') return true;
  return vm.body.runStrategy === 'RerunOnFailure' && phase === 'Failed';
}

const plan = (vm: VmRecord, notBefore: Instant): VmRecord => ({
  ...vm,
  pendingStart: { notBefore },
  restartCount: vm.restartCount + 1,
});

const keepEvidence = (vm: VmRecord, end: Evidence, reason: EndCause, at: Instant, failed: boolean): VmRecord =>
  failed
    ? {
        ...vm,
        lastFailure: { reason, message: end.message ?? vm.lastFailure?.message ?? null, console: end.console, at },
      }
    : vm;

/** Counts a start failure or an unstable run, once, and plans the retry; a stable run is restarted at once, uncounted. */
export function countEnd(vm: VmRecord, instance: Instance, end: Evidence, time: VmTime): VmStep {
  const { now, draw } = time;
  const { backoff, stableFor } = vmPolicyOf(vm.body);
  const ran = instance.runningSince === null ? null : between(instance.runningSince, now);
  if (instance.everRunning && ran !== null && ran >= stableFor) {
    return { vm: plan({ ...vm, unstableRuns: null }, now), facts: [] };
  }
  const withEvidence = keepEvidence(vm, end, end.cause, now, true);
  if (instance.everRunning) {
    const count = (vm.unstableRuns?.count ?? 0) + 1;
    const retryAfter = after(now, vmRetryDelay(backoff, count, draw.delay));
    return {
      vm: plan({ ...withEvidence, unstableRuns: { count, retryAfter } }, retryAfter),
      facts: [
        { kind: 'metric', name: 'VmUnstableRun', group: null, value: 1 },
        delayed(
          `ran only ${sayDuration(ran ?? between(now, now))} and ended ${end.cause} (unstable run ${count})`,
          end,
          retryAfter,
          now,
        ),
      ],
    };
  }
  const consecutiveFailCount = (vm.startFailure?.consecutiveFailCount ?? 0) + 1;
  const retryAfter = after(now, vmRetryDelay(backoff, consecutiveFailCount, draw.delay));
  return {
    vm: plan(
      {
        ...withEvidence,
        startFailure: {
          consecutiveFailCount,
          lastFailedInstanceId: instance.instanceId,
          retryAfter,
          reason: end.cause,
          message: end.message,
        },
      },
      retryAfter,
    ),
    facts: [
      { kind: 'metric', name: 'VmStartFailure', group: null, value: 1 },
      delayed(`never came to run: ${end.cause} (start failure ${consecutiveFailCount})`, end, retryAfter, now),
    ],
  };
}

const delayed = (what: string, end: Evidence, retryAfter: Instant, now: Instant): Fact =>
  note(
    'VM Start Delayed',
    `${what}${end.message === null ? '' : `: ${end.message}`}; the next start is delayed by ${sayDuration(between(now, retryAfter))}`,
    'warning',
  );

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
    nextWakeAt: firstRepeat(now),
    wakesRepeated: 0,
  };
  const told: VmRecord = { ...vm, instance: timedOut };
  const message = 'not Running within its start deadline';
  const end: Evidence = { cause: 'LaunchTimeout', message, console: null };
  const stop = wakeToStop(vm, true);
  if (!keepsRecords(vm))
    return {
      vm: keepEvidence(told, end, end.cause, now, true),
      facts: [stop, note('VM Ended', message, 'warning')],
    };
  const counted = countEnd(told, timedOut, end, time);
  return { vm: counted.vm, facts: [stop, ...counted.facts] };
}

/** Drawn around the deadline: ± one fifth, as the seed's launcher draws 4 to 6 minutes for 5. */
export function startDeadlineAt(vm: VmRecord, { now, draw }: VmTime): Instant | null {
  const { startDeadline } = vmPolicyOf(vm.body);
  return startDeadline === null ? null : instant(Math.round(now + startDeadline * (0.8 + 0.4 * draw.deadline)));
}
