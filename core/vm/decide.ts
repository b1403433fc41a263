/** The decision about one VM: state × event × now × random → state. Pure, total and deterministic (DESIGN sections 3 and 7). */
import { type Fact, logEvents, type Outcome, refused, unchanged } from '../decision/fact.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, type Instant, seconds } from '../kit/time.ts';
import { hostFenced, hostMaintenance, hostSilent, leaveLostHost, lookForHost, noteMaintenance } from './hosts.ts';
import { note, startIfDue, timeOut, type VmStep, wakeToStop } from './life.ts';
import { hostOf, live, PATIENT_WAKE_EVERY, type VmRecord, waitsForHost } from './record.ts';
import type { VmContext, VmEvent } from './event.ts';
import { declare, redeclare } from './declare.ts';
import { reportInstance, takenOn } from './report.ts';
import { hostReported, passAwaiting, recoverVm } from './recover.ts';
import { deleteVm, restartVm, startVm, stopVm } from './verbs.ts';
import { WAKE_REPEATS } from '../node/record.ts';

export function decideVm(vm: VmRecord | null, event: VmEvent, context: VmContext): Outcome<VmRecord> {
  if (event.kind === 'put') {
    const outcome =
      vm === null || vm.removed !== null ? declare(vm, event.body, context) : redeclare(vm, event.body, context);
    return 'refusal' in outcome ? outcome : conclude(outcome.before, outcome, context);
  }
  if (vm === null || vm.removed !== null) {
    return refused(404, 'VmNotFound', `there is no VM ${context.vmId}`);
  }
  const step = change(vm, event, context);
  return 'refusal' in step ? step : conclude(vm, step, context);
}

type Change = VmStep | { kind: 'refused'; refusal: Extract<Outcome<VmRecord>, { kind: 'refused' }>['refusal'] };

function change(vm: VmRecord, event: Exclude<VmEvent, { kind: 'put' }>, context: VmContext): Change {
  const { now } = context;
  switch (event.kind) {
    case 'start':
      return startVm(vm, context);
    case 'stop':
      return stopVm(vm, event.grace, context);
    case 'restart':
      return restartVm(vm, context);
    case 'delete':
      return deleteVm(vm, event.force, context);
    case 'report':
      return reportInstance(
        event.report.cause === 'HostMaintenance' && vm.instance?.instanceId === event.report.instanceId
          ? noteMaintenance(vm, context)
          : vm,
        event.report,
        context,
        event.hostId,
      );
    case 'launchFetched':
      return launchFetched(vm, event.instanceId, context);
    case 'due':
      return passTime(vm, context);
    case 'hostSilent':
      return hostSilent(vm, event.hostId, now);
    case 'hostFenced':
      return hostFenced(vm, event, context);
    case 'hostMaintenance':
      return hostMaintenance(vm, event.hostId, event.begins, context);
    case 'hostReported':
      return hostReported(vm, event.hostId, context);
    case 'hostUnheard':
    case 'hostBooted':
      return same(vm);
    case 'recover':
      return recoverVm(vm, event.at, event.settle, context);
    case 'wakeFailed':
      return wakeFailed(vm, now);
  }
}

const same = (vm: VmRecord): VmStep => ({ vm, facts: [] });

/** Only an instance that is to run is taken on by the fetch: the fetch of any other is refused, and changes nothing. */
function launchFetched(vm: VmRecord, instanceId: string, context: VmContext): VmStep {
  const { instance } = vm;
  // What its host has not taken on before its update, it takes on after (rule 10).
  const held = waitsForHost(vm) && instance?.phase === 'Pending';
  const wanted = !held && live(instance) && instance.instanceId === instanceId && instance.stop === null;
  return wanted && instance.timedOutAt === null ? takenOn(vm, instance, context) : same(vm);
}

function wakeFailed(vm: VmRecord, now: Instant): VmStep {
  const { instance } = vm;
  if (!live(instance) || instance.nextWakeAt === null) return same(vm);
  const soon = after(now, seconds(30));
  return instance.nextWakeAt <= soon
    ? same(vm)
    : { vm: { ...vm, instance: { ...instance, nextWakeAt: soon } }, facts: [] };
}

function passTime(vm: VmRecord, context: VmContext): VmStep {
  let step = same(vm);
  const then = (apply: (vm: VmRecord) => VmStep): void => {
    const next = apply(step.vm);
    step = { vm: next.vm, facts: [...step.facts, ...next.facts] };
  };
  then((v) => passAwaiting(v, context));
  then((v) => passStartDeadline(v, context));
  then((v) => forgetUnstableRuns(v, context.now));
  then((v) => lookForHost(v, context));
  then((v) => leaveLostHost(v, context));
  then((v) => startIfDue(v, context));
  then((v) => repeatWake(v, context.now));
  return step;
}

function passStartDeadline(vm: VmRecord, context: VmContext): VmStep {
  const { instance } = vm;
  if (!live(instance) || instance.startDeadlineAt === null || context.now < instance.startDeadlineAt) return same(vm);
  return instance.stop === null
    ? timeOut(vm, instance, context)
    : { vm: { ...vm, instance: { ...instance, startDeadlineAt: null } }, facts: [] };
}

/** Running for `stableFor` clears the unstable runs (rule 2). */
function forgetUnstableRuns(vm: VmRecord, now: Instant): VmStep {
  const { instance, unstableRuns } = vm;
  if (unstableRuns === null || instance?.phase !== 'Running' || instance.runningSince === null) return same(vm);
  if (now < after(instance.runningSince, vmPolicyOf(vm.body).stableFor)) return same(vm);
  return {
    vm: { ...vm, unstableRuns: null },
    facts: [note('VM Recovered', `stable again after ${unstableRuns.count} unstable runs`)],
  };
}

function repeatWake(vm: VmRecord, now: Instant): VmStep {
  const { instance } = vm;
  if (!live(instance) || instance.nextWakeAt === null || now < instance.nextWakeAt) return same(vm);
  const began = instance.stop?.at ?? instance.timedOutAt ?? instance.createdAt;
  let wakesRepeated = instance.wakesRepeated + 1;
  let wait = WAKE_REPEATS[wakesRepeated];
  while (wait !== undefined && after(began, wait) <= now) {
    wakesRepeated += 1;
    wait = WAKE_REPEATS[wakesRepeated];
  }
  const nextWakeAt = wait === undefined ? after(now, PATIENT_WAKE_EVERY) : after(began, wait);
  const ending = instance.stop !== null || instance.timedOutAt !== null;
  const wake: Fact = ending
    ? wakeToStop(vm, false)
    : { kind: 'wake', hostId: hostOf(vm), action: 'StartInstance', generation: null, decided: false };
  return { vm: { ...vm, instance: { ...instance, nextWakeAt, wakesRepeated } }, facts: [wake] };
}

/** A VM that is being deleted goes once its instance is known ended; then the record has its revision and its log. */
function conclude(before: VmRecord, step: VmStep, context: VmContext): Outcome<VmRecord> {
  const gone = step.vm.deleting !== null && !live(step.vm.instance);
  const vm: VmRecord = gone ? { ...step.vm, removed: { at: context.now }, pendingStart: null } : step.vm;
  const facts: Fact[] = gone ? [...step.facts, note('VM Removed', 'deleted: no instance of it is left')] : step.facts;
  if (vm === before && facts.length === 0) return unchanged;
  const revision = before.revision + 1;
  const events = logEvents(vm.events, facts, `vm/${context.vmId}`, revision, context.now);
  return { kind: 'changed', next: { ...vm, revision, events }, facts };
}
