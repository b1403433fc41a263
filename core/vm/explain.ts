/** Why a VM is where it is, what happens next, and when: said from the same record that decides. */
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, formatInstant, type Instant, sayWhen } from '../kit/time.ts';
import {
  hostOf,
  type Instance,
  live,
  type LiveInstance,
  type LostHost,
  type VmRecord,
  waitsForHost,
} from './record.ts';
import { sayAwaiting } from './recover.ts';
import { resetsTooOften, sayCondition } from './seen.ts';

const inARow = (count: number): string => (count === 1 ? 'once' : `${count} times in a row`);

export function explain(vm: VmRecord, now: Instant): string {
  const failure =
    vm.lastFailure === null
      ? ''
      : ` Last failure ${formatInstant(vm.lastFailure.at)}: ${vm.lastFailure.reason}${vm.lastFailure.message === null ? '' : ` (${vm.lastFailure.message})`}.`;
  return `${sentence(vm, now)}${moved(vm)}${vm.startFailure !== null || vm.unstableRuns !== null || (vm.body.runStrategy === 'Once' && vm.power.on && vm.instance?.phase === 'Failed') ? failure : ''}`;
}

const moved = ({ placedOn, body }: VmRecord): string =>
  placedOn == null || placedOn === body.hostId ? '' : ` It was declared on host ${body.hostId}, which was fenced.`;

function sentence(vm: VmRecord, now: Instant): string {
  const { instance, body } = vm;
  if (vm.deleting !== null) return deletingSentence(vm, vm.deleting, now);
  const awaiting = sayAwaiting(vm);
  if (awaiting !== null) return awaiting;
  if (live(instance)) return liveSentence(vm, instance, now);
  if (vm.gaveUpAt != null && vm.power.on)
    return `Given up after ${inARow(vm.failuresInARow ?? 0)} of failing: ${loops(vm)}, and giveUpAfter is ${body.backoff?.giveUpAfter ?? 'none'}. Nothing more is tried; start it, or give it a new launch definition, which tries at once.`;
  if (vm.pendingStart !== null && vm.power.on && vm.lostHost != null) return lostSentence(vm, vm.lostHost, now);
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
  if (parts.length > 0) return `In a crash loop: ${parts.join(' and ')}`;
  return vm.pendingStart === null ? 'No start is planned' : 'Is to be started';
}

function lostSentence(vm: VmRecord, lostHost: LostHost, now: Instant): string {
  const host = hostOf(vm);
  const elsewhere =
    vm.body.restartElsewhere === true
      ? `; no other of its hosts is in order, which is looked at again ${sayWhen(lostHost.lookAt, now)}`
      : '; give the VM another hostId to start it elsewhere';
  return lostHost.how === 'fenced'
    ? `${loops(vm)}; host ${host} was fenced, and nothing is started on it until it reports from another boot${elsewhere}.`
    : `${loops(vm)}; host ${host} was not heard for the length of its lease, and nothing is started on it until it reports${elsewhere}.`;
}

function liveSentence(vm: VmRecord, instance: LiveInstance, now: Instant): string {
  const host = hostOf(vm);
  const { wakeFailure } = vm;
  const failed = wakeFailure == null ? '' : `; the last wake of it ended ${wakeFailure.status}`;
  const repeat =
    instance.nextWakeAt === null ? '' : `${failed}; the host is woken again ${sayWhen(instance.nextWakeAt, now)}`;
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
      const ails = sayAilment(vm, instance, now);
      if (ails !== null) return ails;
      const { unstableRuns } = vm;
      if (unstableRuns === null || instance.runningSince === null)
        return `Running on host ${host} since ${formatInstant(instance.since)}${vm.body.maintenance === 'block' ? ', and keeps it from rebooting into an update (maintenance: block)' : ''}.`;
      return `Running on host ${host} after ${unstableRuns.count === 1 ? 'an unstable run, which is' : `${unstableRuns.count} unstable runs, which are`} forgotten ${sayWhen(after(instance.runningSince, vmPolicyOf(vm.body).stableFor), now)} if it stays up.`;
    }
    case 'Unknown':
      return `Host ${host} is silent, so nothing is known of instance ${instance.instanceId}; it is started again only after the host reports or is fenced${vm.body.restartElsewhere === true ? ', then on another of its hosts' : ''}.`;
    case 'Scheduled':
      return `Host ${host} is starting instance ${instance.instanceId}${sayDeadline(instance, now)}.`;
    case 'Pending':
      return `Host ${host} has not picked up instance ${instance.instanceId} yet${repeat}; nothing is counted.`;
  }
}

function sayDeadline({ startDeadlineAt, askHostAt }: Instance, now: Instant): string {
  if (startDeadlineAt === null) return '';
  return askHostAt == null
    ? `; not Running ${sayWhen(startDeadlineAt, now)} counts as a start failure`
    : `; its start deadline passed at ${formatInstant(startDeadlineAt)}, and whether it was Running by then is judged with the host's next report`;
}

/** What keeps a guest from running although its instance is Running, and what a person should look at; null: nothing. */
function sayAilment(vm: VmRecord, { condition, resets, instanceId }: LiveInstance, now: Instant): string | null {
  const host = hostOf(vm);
  if (condition != null) {
    const limit = vm.body.unresponsiveFor ?? '5m';
    const kind = condition.kind;
    const next =
      kind === 'Suspended' || limit === 'none'
        ? ''
        : `; it goes on when the cause is gone, and is ended as Unhealthy after ${limit}`;
    return `Running on host ${host}, but ${sayCondition(kind)}, since ${formatInstant(condition.since)}${next}.`;
  }
  if (resets !== undefined && resetsTooOften(vm, now)) {
    const limit = vm.body.resetLimit;
    const then =
      limit === undefined
        ? 'it is ended for that only with resetLimit'
        : `${limit} within ${vm.body.stableFor ?? '10m'} end it`;
    return `Running on host ${host}, but the guest of instance ${instanceId} has reset itself ${resets.count} times; ${then}.`;
  }
  return null;
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
