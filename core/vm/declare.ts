/** Declaring a VM, and changing what was declared (DESIGN section 3, table and rule 7). */
import type { VmBody } from '../contract/operator-bodies.ts';
import type { RunStrategy } from '../contract/words.ts';
import { refused } from '../decision/fact.ts';
import type { InstanceId } from '../kit/ids.ts';
import { after, hours, type Instant } from '../kit/time.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import type { VmContext } from './event.ts';
import { forgotten, reconsider } from './failures.ts';
import { giveUpUntaken, meetFence } from './hosts.ts';
import { askToEnd, startIfDue } from './life.ts';
import { hostOf, INSTANCES_KEPT, live, type LostHost, type VmRecord, wanted } from './record.ts';
import { redrawDeadline } from './start-deadline.ts';
import { inTurn, note, same, type VmStep } from './step.ts';

type Declared = (VmStep & { before: VmRecord }) | ReturnType<typeof refused>;

const startsWhenCreated = (strategy: RunStrategy): boolean => strategy !== 'Manual' && strategy !== 'Halted';

/** A new declaration has a new uid, also over the tombstone of one that was deleted. */
export function declare(tombstone: VmRecord | null, body: VmBody, context: VmContext): Declared {
  const { now, draw, vmId } = context;
  const unfit = cannotWork(body, context);
  if (unfit !== null) return unfit;
  const on = startsWhenCreated(body.runStrategy);
  const vm: VmRecord = {
    kind: 'vm',
    revision: tombstone?.revision ?? 0,
    events: [],
    vmId,
    uid: draw.id,
    body,
    launchRevision: (tombstone?.launchRevision ?? 0) + 1,
    power: { on, sequence: 0 },
    lastVerb: null,
    instance: null,
    previousInstances: tombstone === null ? [] : everyInstance(tombstone),
    pendingStart: on ? { notBefore: now } : null,
    startFailure: null,
    unstableRuns: null,
    lastFailure: null,
    restartCount: 0,
    deleting: null,
    removed: null,
    ...(context.hosts?.named?.fenced === true ? { lostHost: fencedHost(now) } : {}),
  };
  const step = startIfDue(vm, context);
  return {
    before: vm,
    vm: step.vm,
    facts: [note('VM Declared', `declared on host ${body.hostId}, ${body.runStrategy}`), ...step.facts],
  };
}

const fencedHost = (now: Instant): LostHost => ({ since: now, how: 'fenced', lookAt: after(now, hours(1)) });

/** What its host could not do, or could do behind our back, is refused now, not found out at night (rules 8 and 11). */
function cannotWork({ launch, lease, restartElsewhere, hostId }: VmBody, context: VmContext) {
  const named = context.hosts?.named;
  if (launch.type !== 'libvirt' || named === undefined) return null;
  if (named.sameDomain !== null) {
    return refused(
      409,
      'DomainTaken',
      `domain ${launch.domain} of host ${hostId} is VM ${named.sameDomain}: one guest is one VM; name another domain, or change or delete VM ${named.sameDomain} first`,
    );
  }
  if (!named.autostart || (lease === undefined && restartElsewhere !== true)) return null;
  return refused(
    409,
    'AutostartOn',
    `domain ${launch.domain} starts by itself with host ${hostId} (autostart), so a VM that may be started elsewhere could run twice; turn it off there with: virsh autostart --disable ${launch.domain}`,
  );
}

/** The instances of the declaration before: what they report late is never taken for a life of this one. */
const everyInstance = ({ previousInstances, instance }: VmRecord): InstanceId[] =>
  (instance === null ? previousInstances : [...previousInstances, instance.instanceId]).slice(-INSTANCES_KEPT);

export function redeclare(vm: VmRecord, body: VmBody, context: VmContext): Declared {
  if (vm.deleting !== null)
    return refused(409, 'VmTerminating', `VM ${vm.vmId} is being deleted; declare it again when it is gone`);
  const moved = body.hostId !== vm.body.hostId;
  const unfit = cannotWork(body, context);
  if (unfit !== null) return unfit;
  if (moved && vm.awaitingHost != null) {
    return refused(
      409,
      'InstanceNotEnded',
      `VM ${vm.vmId} was restored from an older copy and host ${hostOf(vm)} may run an instance of it; wait until it has reported, or fence it, before moving the VM`,
    );
  }
  const leaves = moved && body.hostId !== hostOf(vm);
  // What a fenced host had, or one that never enrolled was asked for, has ended: the VM may leave.
  const left = leaves
    ? inTurn(
        vm,
        (v) => meetFence(v, context),
        (v) => giveUpUntaken(v, context),
      )
    : same(vm);
  const known = left.vm;
  if (leaves && live(known.instance)) {
    return refused(
      409,
      'InstanceNotEnded',
      `VM ${vm.vmId} has instance ${known.instance.instanceId} on host ${hostOf(vm)} whose end is not known; stop it, or fence the host, before moving the VM`,
    );
  }
  if (JSON.stringify(body) === JSON.stringify(vm.body)) return { before: vm, vm, facts: [] };
  const step = inTurn(
    known,
    (v) => same(applyBody(vm, v, body, context)),
    (v) => (moved ? same(v) : meetFence(v, context)),
    (v) => (body.runStrategy === 'Halted' ? giveUpUntaken(v, context) : same(v)),
    (v) => (body.runStrategy === 'Halted' ? askToEnd(v, vmPolicyOf(body).grace, context.now) : same(v)),
    (v) => startIfDue(v, context),
  );
  const said = note('VM Changed', describeChange(vm.body, body, newLaunch(vm.body, body)));
  return { before: vm, vm: step.vm, facts: [said, ...left.facts, ...step.facts] };
}

/** The record under its new declaration, before anything is started or ended for it. */
function applyBody(before: VmRecord, known: VmRecord, body: VmBody, context: VmContext): VmRecord {
  const { now, hosts } = context;
  const relaunched = newLaunch(before.body, body);
  const moved = body.hostId !== before.body.hostId;
  let next: VmRecord = { ...known, body, launchRevision: known.launchRevision + (relaunched ? 1 : 0) };
  // Declared elsewhere: where it went when its host was lost is over, and so is what was known of that host.
  if (moved) {
    const stays = body.hostId === hostOf(before);
    next = {
      ...next,
      placedOn: null,
      maintenance: stays ? (before.maintenance ?? null) : null,
      lostHost: hosts?.named?.fenced === true ? fencedHost(now) : stays ? (known.lostHost ?? null) : null,
    };
  }
  if (body.runStrategy !== before.body.runStrategy) next = changeStrategy(known, next, context);
  // What was given up may have been the definition's fault: a new one is tried at once, and the records stay.
  if (relaunched && next.gaveUpAt != null && next.power.on)
    next = { ...next, gaveUpAt: null, pendingStart: { notBefore: now } };
  if (relaunched) next = { ...next, failuresInARow: 0 };
  if (relaunched && next.pendingStart !== null)
    next = { ...next, pendingStart: { ...next.pendingStart, notBefore: now } };
  return redrawDeadline(before, reconsider(next, now), context);
}

const newLaunch = (before: VmBody, after: VmBody): boolean =>
  JSON.stringify(before.launch) !== JSON.stringify(after.launch) ||
  (before.simulateCrash ?? false) !== (after.simulateCrash ?? false);

function describeChange(before: VmBody, now: VmBody, relaunched: boolean): string {
  const parts = [
    ...(before.runStrategy === now.runStrategy ? [] : [`run strategy ${before.runStrategy} → ${now.runStrategy}`]),
    ...(relaunched ? ['new launch definition'] : []),
    ...(before.hostId === now.hostId ? [] : [`host ${before.hostId} → ${now.hostId}`]),
  ];
  return parts.length === 0 ? 'settings changed' : parts.join(', ');
}

/**
 * A new strategy during back-off: Always and RerunOnFailure keep the planned retry, Manual and Halted cancel it, Once
 * tries once. Outside back-off it acts like a creation, unless the last verb was stop (rule 7).
 */
function changeStrategy(before: VmRecord, next: VmRecord, { now }: VmContext): VmRecord {
  const { runStrategy } = next.body;
  const keeps = runStrategy === 'Always' || runStrategy === 'RerunOnFailure';
  const cleaned: VmRecord = keeps ? next : { ...forgotten(next), startFailure: null };
  const backingOff = before.pendingStart !== null;
  // No retry is planned of what was given up, and another strategy that keeps its records plans none.
  if ((backingOff || before.gaveUpAt != null) && keeps) return cleaned;
  const stopped = before.lastVerb === 'stop';
  // A person asked for it, or it was promised after host maintenance: that is no back-off.
  if (runStrategy === 'Manual' && before.pendingStart?.promised === true) return cleaned;
  if (runStrategy === 'Halted' || (runStrategy === 'Manual' && (backingOff || !live(before.instance)))) {
    return setPower({ ...cleaned, pendingStart: null }, false);
  }
  if (runStrategy === 'Manual' || stopped) return cleaned;
  const on = setPower(cleaned, true);
  return wanted(before.instance) ? on : { ...on, pendingStart: { notBefore: now } };
}

const setPower = (vm: VmRecord, on: boolean): VmRecord =>
  vm.power.on === on ? vm : { ...vm, power: { on, sequence: vm.power.sequence + 1 } };
