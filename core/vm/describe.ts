/** A VM as the API and its host see it: the same record that decides also explains. */
import { canOfVm } from '../contract/can.ts';
import type { DesiredVm, HostVm } from '../contract/agent-answers.ts';
import type { VmJson } from '../contract/answers.ts';
import type { PrintableStatus } from '../contract/words.ts';
import { sayWhen } from '../kit/time.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, formatInstant, type Instant } from '../kit/time.ts';
import { hostOf, type Instance, live, type VmRecord, waitsForHost } from './record.ts';
import { sayAwaiting } from './recover.ts';
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
      return vm.pendingStart !== null && inCrashLoop(vm) ? 'CrashLoopBackOff' : 'Stopping';
    if (instance.phase === 'Running') return 'Running';
    return instance.phase === 'Unknown' ? 'Unknown' : 'Starting';
  }
  if (vm.pendingStart !== null && vm.power.on && waitsForHost(vm) && !inCrashLoop(vm)) return 'Starting';
  if (vm.pendingStart !== null && vm.power.on) return 'CrashLoopBackOff';
  if (body.runStrategy === 'Once' && vm.power.on && instance?.phase === 'Succeeded') return 'Completed';
  if (body.runStrategy === 'Once' && vm.power.on && instance?.phase === 'Failed') return 'Failed';
  return 'Stopped';
}

const inARow = (count: number): string => (count === 1 ? 'once' : `${count} times in a row`);

/** Failures are recorded: what is planned is a retry, not a start that somebody asked for. */
const inCrashLoop = (vm: VmRecord): boolean => vm.startFailure !== null || vm.unstableRuns !== null;

function explain(vm: VmRecord, now: Instant): string {
  const failure =
    vm.lastFailure === null
      ? ''
      : ` Last failure ${formatInstant(vm.lastFailure.at)}: ${vm.lastFailure.reason}${vm.lastFailure.message === null ? '' : ` (${vm.lastFailure.message})`}.`;
  return `${sentence(vm, now)}${moved(vm)}${vm.startFailure !== null || vm.unstableRuns !== null || printableStatus(vm) === 'Failed' ? failure : ''}`;
}

const moved = ({ placedOn, body }: VmRecord): string =>
  placedOn == null || placedOn === body.hostId ? '' : ` It was declared on host ${body.hostId}, which was fenced.`;

function sentence(vm: VmRecord, now: Instant): string {
  const { instance, body } = vm;
  if (vm.deleting !== null) return deletingSentence(vm, vm.deleting, now);
  const awaiting = sayAwaiting(vm);
  if (awaiting !== null) return awaiting;
  if (live(instance)) return liveSentence(vm, instance, now);
  if (vm.pendingStart !== null && vm.power.on && waitsForHost(vm))
    return `${loops(vm)}; host ${hostOf(vm)} is being updated, and the next start waits until the host has reached MonitoringUpdate or is Idle again. Nothing is counted for that.`;
  if (vm.pendingStart !== null && vm.power.on)
    return `${loops(vm)}; the next start is tried ${sayWhen(vm.pendingStart.notBefore, now)} on host ${hostOf(vm)}. Start it to try now, stop it to give up.`;
  if (body.runStrategy === 'Halted') return 'Halted: it never runs; change its runStrategy to run it.';
  if (!vm.power.on && vm.lastVerb === 'stop') return 'Stopped by an operator; it stays off until it is started.';
  if (instance === null) return 'Off: it has not been started yet; start it to run it.';
  const how = `Its last instance ended ${instance.phase} (${instance.cause ?? 'Unknown'})`;
  if (body.runStrategy === 'Once')
    return `${how} and run strategy Once runs it only once; stop it and start it to run it again.`;
  if (body.runStrategy === 'RerunOnFailure')
    return `${how}: the guest is done, and run strategy RerunOnFailure restarts only after a failure; start it to run it again.`;
  return `${how}; start it to run it again.`;
}

/** What the counters say: both kinds of crash loop in one phrase. */
function loops(vm: VmRecord): string {
  const { startFailure, unstableRuns } = vm;
  const parts = [
    ...(startFailure === null
      ? []
      : [`failed to start ${inARow(startFailure.consecutiveFailCount)} (${startFailure.reason})`]),
    ...(unstableRuns === null ? [] : [`ran only shortly ${inARow(unstableRuns.count)}`]),
  ];
  return parts.length === 0 ? 'Is to be started' : `In a crash loop: ${parts.join(' and ')}`;
}

function liveSentence(vm: VmRecord, instance: Instance, now: Instant): string {
  const host = hostOf(vm);
  const repeat = instance.nextWakeAt === null ? '' : `; the host is woken again ${sayWhen(instance.nextWakeAt, now)}`;
  if (instance.stop?.forHost === true)
    return `Stopping, because host ${host} is about to be updated: instance ${instance.instanceId} was told to end and its end is not known yet${repeat}; it is started again when the host has reached MonitoringUpdate or is Idle again. Nothing is counted.`;
  if (instance.stop !== null) {
    const then = vm.pendingStart !== null && vm.power.on ? 'then it is started again' : 'then it stays off';
    return `Stopping: host ${host} was told to end instance ${instance.instanceId} and its end is not known yet${repeat}; ${then}.`;
  }
  if (instance.timedOutAt !== null) {
    const next =
      vm.pendingStart === null
        ? ''
        : `, and the next start waits for that and is tried not before ${sayWhen(vm.pendingStart.notBefore, now)}`;
    return `${loops(vm)}: instance ${instance.instanceId} was not Running within its start deadline, host ${host} was told to end it and its end is not known yet${repeat}${next}.`;
  }
  switch (instance.phase) {
    case 'Running': {
      const { unstableRuns } = vm;
      if (unstableRuns === null || instance.runningSince === null)
        return `Running on host ${host} since ${formatInstant(instance.since)}${vm.body.maintenance === 'block' ? ', and keeps it from rebooting into an update (maintenance: block)' : ''}.`;
      return `Running on host ${host} after ${unstableRuns.count === 1 ? 'an unstable run, which is' : `${unstableRuns.count} unstable runs, which are`} forgotten ${sayWhen(after(instance.runningSince, vmPolicyOf(vm.body).stableFor), now)} if it stays up.`;
    }
    case 'Unknown':
      return `Host ${host} is silent, so nothing is known of instance ${instance.instanceId}; it is started again only after the host reports or is fenced${vm.body.restartElsewhere === true ? ', then on another of its hosts' : ''}.`;
    case 'Scheduled':
      return `Host ${host} is starting instance ${instance.instanceId}${instance.startDeadlineAt === null ? '' : `; not Running ${sayWhen(instance.startDeadlineAt, now)} counts as a start failure`}.`;
    case 'Pending':
    case 'Succeeded':
    case 'Failed':
      return `Host ${host} has not picked up instance ${instance.instanceId} yet${repeat}; nothing is counted.`;
  }
}

function deletingSentence(vm: VmRecord, deleting: NonNullable<VmRecord['deleting']>, now: Instant): string {
  const what =
    vm.instance === null
      ? 'its record goes'
      : `the record goes once host ${hostOf(vm)} reports the end of instance ${vm.instance.instanceId}`;
  if (now < deleting.deadlineAt)
    return `Being deleted: ${what}; a blocker is named ${sayWhen(deleting.deadlineAt, now)}.`;
  return `Being deleted, blocked by host ${hostOf(vm)}: it has not reported the end of instance ${vm.instance?.instanceId ?? ''} since ${formatInstant(deleting.at)}. Fence the host, or delete with force, which gives up the guarantee that no second instance runs.`;
}

/** Whether an instance is to run: off for every one that is stopped, timed out, deleted, or not ours (section 6). */
export function desiredFor(vm: VmRecord | null, instanceId: string, uid: string | undefined): DesiredVm {
  if (vm === null || vm.removed !== null || (uid !== undefined && uid !== vm.uid)) return { power: 'off', instanceId };
  const { instance } = vm;
  if (!live(instance) || instance.instanceId !== instanceId) return { power: 'off', instanceId };
  if (instance.stop !== null) return { power: 'off', instanceId, graceSeconds: instance.stop.grace / 1000 };
  if (instance.timedOutAt !== null) return { power: 'off', instanceId, graceSeconds: 0 };
  return { power: 'on', instanceId };
}

/** What a host is told of a VM: its live instance, to run or to end; nothing when none is to be there. */
export function hostLine(vm: VmRecord): HostVm | null {
  // A host that is awaited after a restore is told nothing: what it runs is left where it is.
  if (vm.removed !== null || vm.awaitingHost != null || !live(vm.instance)) return null;
  // What a host has not taken on before its update, it takes on after.
  if (waitsForHost(vm) && vm.instance.phase === 'Pending' && vm.instance.stop === null) return null;
  const { instanceId, power, graceSeconds } = desiredFor(vm, vm.instance.instanceId, undefined);
  return {
    vmId: vm.vmId,
    uid: vm.uid,
    power,
    instanceId,
    launchRevision: vm.launchRevision,
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
  };
}
