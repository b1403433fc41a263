/** Declaring a VM, and changing what was declared (DESIGN section 3, table and rule 7). */
import type { VmBody } from '../contract/operator-bodies.ts';
import type { RunStrategy } from '../contract/words.ts';
import { refused } from '../decision/fact.ts';
import type { InstanceId } from '../kit/ids.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import type { VmContext } from './event.ts';
import { askToEnd, note, startIfDue, type VmStep } from './life.ts';
import { hostOf, INSTANCES_KEPT, live, type VmRecord } from './record.ts';

type Declared = (VmStep & { before: VmRecord }) | ReturnType<typeof refused>;

const startsWhenCreated = (strategy: RunStrategy): boolean => strategy !== 'Manual' && strategy !== 'Halted';

/** A new declaration has a new uid, also over the tombstone of one that was deleted. */
export function declare(tombstone: VmRecord | null, body: VmBody, context: VmContext): Declared {
  const { now, draw, vmId } = context;
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
  };
  const step = startIfDue(vm, context);
  return {
    before: vm,
    vm: step.vm,
    facts: [note('VM Declared', `declared on host ${body.hostId}, ${body.runStrategy}`), ...step.facts],
  };
}

/** The instances of the declaration before: what they report late is never taken for a life of this one. */
const everyInstance = ({ previousInstances, instance }: VmRecord): InstanceId[] =>
  (instance === null ? previousInstances : [...previousInstances, instance.instanceId]).slice(-INSTANCES_KEPT);

export function redeclare(vm: VmRecord, body: VmBody, context: VmContext): Declared {
  if (vm.deleting !== null)
    return refused(409, 'VmTerminating', `VM ${vm.vmId} is being deleted; declare it again when it is gone`);
  const moved = body.hostId !== vm.body.hostId;
  if (moved && vm.awaitingHost != null) {
    return refused(
      409,
      'InstanceNotEnded',
      `VM ${vm.vmId} was restored from an older copy and host ${hostOf(vm)} may run an instance of it; wait until it has reported, or fence it, before moving the VM`,
    );
  }
  if (moved && body.hostId !== hostOf(vm) && live(vm.instance)) {
    return refused(
      409,
      'InstanceNotEnded',
      `VM ${vm.vmId} has instance ${vm.instance.instanceId} on host ${hostOf(vm)} whose end is not known; stop it, or fence the host, before moving the VM`,
    );
  }
  if (JSON.stringify(body) === JSON.stringify(vm.body)) return { before: vm, vm, facts: [] };
  const relaunched = newLaunch(vm.body, body);
  let next: VmRecord = { ...vm, body, launchRevision: vm.launchRevision + (relaunched ? 1 : 0) };
  // Declared elsewhere: where it went when its host was lost is over, and so is what was known of that host.
  if (moved)
    next = { ...next, placedOn: null, maintenance: body.hostId === hostOf(vm) ? (vm.maintenance ?? null) : null };
  if (body.runStrategy !== vm.body.runStrategy) next = changeStrategy(vm, next, context);
  if (relaunched && next.pendingStart !== null) next = { ...next, pendingStart: { notBefore: context.now } };
  const halted =
    body.runStrategy === 'Halted' ? askToEnd(next, vmPolicyOf(body).grace, context.now) : { vm: next, facts: [] };
  const step = startIfDue(halted.vm, context);
  return {
    before: vm,
    vm: step.vm,
    facts: [note('VM Changed', describeChange(vm.body, body, relaunched)), ...halted.facts, ...step.facts],
  };
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
  const cleaned: VmRecord = keeps ? next : { ...next, startFailure: null, unstableRuns: null };
  const backingOff = before.pendingStart !== null;
  if (backingOff && keeps) return cleaned;
  const stopped = before.lastVerb === 'stop';
  if (runStrategy === 'Halted' || (runStrategy === 'Manual' && (backingOff || !live(before.instance)))) {
    return setPower({ ...cleaned, pendingStart: null }, false);
  }
  if (runStrategy === 'Manual' || stopped) return cleaned;
  const on = setPower(cleaned, true);
  const runs = live(before.instance) && before.instance.stop === null && before.instance.timedOutAt === null;
  return runs ? on : { ...on, pendingStart: { notBefore: now } };
}

const setPower = (vm: VmRecord, on: boolean): VmRecord =>
  vm.power.on === on ? vm : { ...vm, power: { on, sequence: vm.power.sequence + 1 } };
