/**
 * A VM after its record was restored from an older copy of the table (docs/runbooks/restore.md). Since the copy was made
 * its instance may have ended, another may run, and on another host. So nothing of it is started, and its host is told
 * nothing of it, until a host reports an instance of it, or its host has reported and has had time to name one (G5).
 */
import type { VmReport } from '../contract/agent-bodies.ts';
import type { EndCause } from '../contract/words.ts';
import type { InstanceId } from '../kit/ids.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, type Duration, formatInstant, type Instant, minutes } from '../kit/time.ts';
import { askToEnd, endInstance, newInstance, retired } from './life.ts';
import { note, type VmStep, type VmTime } from './step.ts';
import { hostOf, type Instance, live, type VmRecord } from './record.ts';

/** After its host's first report: time for the reports about its instances, and for those of its next one. */
const HEARD_SETTLE = minutes(5);
/** Between looks at whether the host has been heard, in case its VM was not told. */
const LOOK_EVERY = minutes(15);

/** @param settle two reports of a host at rest: who runs an instance of it will have said so */
export function recoverVm(vm: VmRecord, at: Instant, settle: Duration, { now }: VmTime): VmStep {
  if (vm.recoveredAt === at) return { vm, facts: [] };
  const until = after(now, settle);
  return {
    vm: {
      ...vm,
      instance: live(vm.instance) ? doubted(vm.instance, now) : vm.instance,
      recoveredAt: at,
      awaitingHost: { since: now, settleUntil: until, heardAt: null, lookAt: until, sequence: vm.power.sequence },
    },
    facts: [
      note(
        'VM Restored',
        `restored from an older copy: nothing is started before host ${hostOf(vm)} has reported`,
        'warning',
      ),
    ],
  };
}

/** Nothing is known of it, and no clock runs against it. */
const doubted = (instance: Instance, now: Instant): Instance => ({
  ...instance,
  phase: instance.phase === 'Pending' ? 'Pending' : 'Unknown',
  since: now,
  startDeadlineAt: null,
  nextWakeAt: null,
  wakesRepeated: 0,
});

/** When the wait for the host ends, or when to look whether it was heard; null when nothing is awaited. */
export function awaitedAt({ awaitingHost }: VmRecord): Instant | null {
  if (awaitingHost == null) return null;
  const { heardAt, settleUntil, lookAt } = awaitingHost;
  if (heardAt === null) return lookAt;
  const settled = after(heardAt, HEARD_SETTLE);
  return settled > settleUntil ? settled : settleUntil;
}

export function hostReported(vm: VmRecord, hostId: string, { now }: VmTime): VmStep {
  const { awaitingHost } = vm;
  if (awaitingHost == null || awaitingHost.heardAt !== null || hostOf(vm) !== hostId) return { vm, facts: [] };
  return { vm: { ...vm, awaitingHost: { ...awaitingHost, heardAt: now } }, facts: [] };
}

/** The host has had its time and named nothing: what the copy took for live has ended, and nobody counts it. */
export function passAwaiting(vm: VmRecord, time: VmTime): VmStep {
  const { awaitingHost } = vm;
  const at = awaitedAt(vm);
  if (awaitingHost == null || at === null || time.now < at) return { vm, facts: [] };
  if (awaitingHost.heardAt === null) {
    return { vm: { ...vm, awaitingHost: { ...awaitingHost, lookAt: after(time.now, LOOK_EVERY) } }, facts: [] };
  }
  const met = metHost(vm, time.now);
  if (!live(met.instance) || met.instance.phase === 'Pending') return { vm: met, facts: [] };
  const message = `host ${hostOf(vm)} does not report it after the restore`;
  return endInstance(met, { phase: 'Failed', cause: 'HostLost', message, console: null, ran: null }, time);
}

/** The wait is over; a wake that an instance still needs is sent again. */
export function metHost(vm: VmRecord, now: Instant): VmRecord {
  const { instance } = vm;
  const wakes =
    live(instance) && (instance.stop !== null || instance.timedOutAt !== null || instance.phase === 'Pending');
  return { ...vm, awaitingHost: null, instance: wakes ? { ...instance, nextWakeAt: now } : instance };
}

/**
 * What a host says of an instance while its VM is awaited: whom it is about, and whether the report is then observed as
 * any other or passed over.
 */
export function meet(vm: VmRecord, report: VmReport, hostId: string, time: VmTime): VmStep & { observes: boolean } {
  const final = report.phase === 'Succeeded' || report.phase === 'Failed';
  const { instance } = vm;
  const passed = { vm, facts: [], observes: false };
  if (vm.previousInstances.some((id) => id === report.instanceId)) return passed;
  if (instance?.instanceId === report.instanceId) {
    if (!live(instance) || hostId !== hostOf(vm)) return passed;
    return { vm: final ? vm : metHost(vm, time.now), facts: [], observes: true };
  }
  const ours = report.uid === vm.uid || (report.uid === undefined && hostId === hostOf(vm));
  // Only a host that ran this very declaration knows its uid: nobody else can claim the VM.
  if (!ours && (final || hostId !== hostOf(vm))) return passed;
  return { ...found(vm, report, hostId, final, time), observes: true };
}

/** An instance that began after the copy was made takes the place of the one in the copy, which has ended. */
function found(vm: VmRecord, report: VmReport, hostId: string, final: boolean, { now }: VmTime): VmStep {
  // The contract has checked the id.
  const instance = { ...newInstance(report.instanceId as InstanceId, now), everRunning: final && hasRun(report) };
  const adopted: VmRecord = {
    ...vm,
    uid: report.uid ?? vm.uid,
    body: { ...vm.body, hostId },
    placedOn: null,
    instance,
    previousInstances: retired(vm),
    pendingStart: null,
  };
  const facts = [
    note('VM Adopted', `instance ${report.instanceId}, begun after the copy was made, is adopted on host ${hostId}`),
  ];
  if (final) return { vm: adopted, facts };
  const met = { ...adopted, awaitingHost: null };
  const stoppedSince = !vm.power.on && vm.power.sequence !== vm.awaitingHost?.sequence;
  if (vm.body.runStrategy !== 'Halted' && vm.deleting === null && !stoppedSince) {
    // It began after whatever stop the copy knows, so somebody had started it.
    return { vm: { ...met, power: { ...vm.power, on: true }, lastVerb: vm.power.on ? vm.lastVerb : null }, facts };
  }
  const ending = askToEnd(met, vmPolicyOf(vm.body).grace, now);
  return { vm: ending.vm, facts: [...facts, ...ending.facts] };
}

/** Ends that only something that ran can have. */
const RAN: readonly (EndCause | undefined)[] = [
  'GuestShutdown',
  'GuestPanic',
  'Killed',
  'Unhealthy',
  'HostMaintenance',
];
const hasRun = ({ phase, cause }: VmReport): boolean => phase === 'Succeeded' || RAN.includes(cause);

/**
 * A host that is off names nothing, unless the event is from before the recovery. Another may run what began after the copy
 * was made, so the others still get their time (G5).
 */
export function fencedWhileAwaited(vm: VmRecord, asOf: Instant | undefined, now: Instant): VmRecord | null {
  if (vm.awaitingHost == null) return vm;
  if (asOf !== undefined && asOf < vm.awaitingHost.since) return null;
  const awaitingHost = { ...vm.awaitingHost, heardAt: vm.awaitingHost.heardAt ?? now };
  return { ...vm, awaitingHost };
}

export function sayAwaiting(vm: VmRecord): string | null {
  const { awaitingHost } = vm;
  const at = awaitedAt(vm);
  if (awaitingHost == null || at === null) return null;
  const host = hostOf(vm);
  const until =
    awaitingHost.heardAt === null
      ? `host ${host} has reported`
      : `${formatInstant(at)}, so that every host can name what it runs`;
  return `Restored from an older copy: its state is what it was then, and nothing is started until ${until}; an instance that a host reports is adopted.${awaitingHost.heardAt === null ? ' Fence the host if it is off.' : ''}`;
}
