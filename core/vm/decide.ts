/** The decision about one VM: state × event × now × random → state. Pure, total and deterministic (DESIGN sections 3 and 7). */
import { type Fact, logEvents, type Outcome, refused, unchanged } from '../decision/fact.ts';
import { after, type Instant, seconds } from '../kit/time.ts';
import { hostBooted, hostFenced, hostIsHeard, hostSilent, leaveLostHost, lookForLostHost, passLease } from './hosts.ts';
import { startIfDue, wakeToStop } from './life.ts';
import { sendLease } from './lease.ts';
import { hostMaintenance, lookForHost, noteMaintenance } from './maintenance.ts';
import { hostOf, live, PATIENT_WAKE_EVERY, type VmRecord, waitsForHost, wanted } from './record.ts';
import { type VmContext, type VmEvent, vmStableAt } from './event.ts';
import { askConsole, dropConsole } from './console.ts';
import { mayReport } from './reporter.ts';
import { seeInstance } from './seen.ts';
import { ASK_AGAIN, judgeStart, passStartDeadline } from './start-deadline.ts';
import { inTurn, note, same, type VmStep } from './step.ts';
import { declare, redeclare } from './declare.ts';
import { forgetAfterRun, reportInstance, takenOn } from './report.ts';
import { hostReported, passAwaiting, recoverVm } from './recover.ts';
import { deleteVm, restartVm, startVm, stopVm } from './verbs.ts';
import { WAKE_REPEATS } from '../node/record.ts';

export function decideVm(vm: VmRecord | null, event: VmEvent, context: VmContext): Outcome<VmRecord> {
  if (event.kind === 'put') {
    const outcome =
      vm === null || vm.removed !== null ? declare(vm, event.body, context) : redeclare(vm, event.body, context);
    return 'refusal' in outcome ? outcome : conclude(outcome.before, outcome, context);
  }
  if (event.kind === 'report') {
    const judged = mayReport(context.vmId, vm, event.report, event.hostId);
    if (judged !== null) return judged;
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
      return restartVm(vm, event.grace ?? null, context);
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
      return hearHost(vm, event, context);
    case 'hostUnheard':
      return hostOf(vm) === event.hostId ? passLease(vm, context) : same(vm);
    case 'hostBooted':
      return hostBooted(vm, event, context);
    case 'leaseSent':
      return live(vm.instance) ? same({ ...vm, instance: sendLease(vm, vm.instance, now) }) : same(vm);
    case 'askConsole':
      return askConsole(vm, event.by, now);
    case 'recover':
      return recoverVm(vm, event.at, event.settle, context);
    case 'wakeFailed':
      return wakeFailed(vm, event.status, now);
  }
}

/** Only an instance that is to run is taken on by the fetch: the fetch of any other is refused, and changes nothing. */
function launchFetched(vm: VmRecord, instanceId: string, context: VmContext): VmStep {
  const { instance } = vm;
  // What its host has not taken on before its update, it takes on after (rule 10).
  const held = vm.lostHost != null || (waitsForHost(vm) && instance?.phase === 'Pending');
  if (held || !wanted(instance) || instance.instanceId !== instanceId) return same(vm);
  const taken = takenOn(vm, instance, context);
  // The answer gives its host the lease.
  return inTurn(taken.vm, (v) =>
    live(v.instance) ? same(withInstance(v, sendLease(v, v.instance, context.now))) : same(v),
  );
}

const withInstance = (vm: VmRecord, instance: NonNullable<VmRecord['instance']>): VmRecord =>
  vm.instance === instance ? vm : { ...vm, instance };

/** A failed wake is said, and once brings the next repeat forward; then the usual pace holds again (DESIGN section 5). */
function wakeFailed(vm: VmRecord, status: string, now: Instant): VmStep {
  const { instance } = vm;
  if (!live(instance) || instance.nextWakeAt === null) return same(vm);
  const first = vm.wakeFailure == null;
  const soon = after(now, seconds(30));
  const nextWakeAt = first && instance.nextWakeAt > soon ? soon : instance.nextWakeAt;
  if (!first && vm.wakeFailure?.status === status) return same(vm);
  return same({ ...vm, wakeFailure: { status, at: now }, instance: { ...instance, nextWakeAt } });
}

/** A report of the host: first what it says of this VM's instance, then what waited for its word. */
function hearHost(
  vm: VmRecord,
  { hostId, seen }: Extract<VmEvent, { kind: 'hostReported' }>,
  context: VmContext,
): VmStep {
  if (vm.awaitingHost != null) return hostReported(vm, hostId, context);
  if (hostOf(vm) !== hostId) return same(vm);
  const ours = live(vm.instance) && seen?.instanceId === vm.instance.instanceId;
  return inTurn(
    vm,
    (v) => (ours && seen !== undefined ? seeInstance(v, seen, context) : same(v)),
    (v) => judgeStart(v, context),
    (v) => (ours ? same(v) : forgetAfterRun(v, undefined, context.now)),
    (v) => hostIsHeard(v, context),
  );
}

function passTime(vm: VmRecord, context: VmContext): VmStep {
  return inTurn(
    vm,
    (v) => (vm.awaitingHost == null ? same(v) : passLease(v, context)),
    (v) => passAwaiting(v, context),
    (v) => (v.instance?.lease?.lookAt == null ? same(v) : passLease(v, context)),
    (v) => passStartDeadline(v, context),
    (v) => passStableTime(v, context),
    (v) => lookForHost(v, context),
    (v) => leaveLostHost(v, context),
    (v) => lookForLostHost(v, context),
    (v) => startIfDue(v, context),
    (v) => repeatWake(v, context.now),
    (v) => dropConsole(v, context.now),
  );
}

/**
 * It may have run for `stableFor`: its host is asked to say so (rule 2). Of a host that never enrolled no report is to
 * come, and time alone tells.
 */
function passStableTime(vm: VmRecord, context: VmContext): VmStep {
  const { instance } = vm;
  const { now, hosts } = context;
  const stableAt = vmStableAt(vm);
  if (stableAt === null || now < stableAt || !live(instance)) return same(vm);
  if (hosts?.enrolled !== true) return forgetAfterRun(vm, undefined, now);
  if (instance.askHostAt != null && now < instance.askHostAt) return same(vm);
  return {
    vm: { ...vm, instance: { ...instance, askHostAt: after(now, ASK_AGAIN) } },
    facts: [{ kind: 'listen', hostId: hostOf(vm) }],
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
