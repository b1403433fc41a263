/** What the update of its host does to a VM (DESIGN section 3 rule 10). */
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, type Duration, type Instant, minutes } from '../kit/time.ts';
import type { VmContext } from './event.ts';
import { askToEnd, startIfDue } from './life.ts';
import { hostOf, live, type VmRecord, waitsForHost } from './record.ts';
import { note, same, type VmStep } from './step.ts';

/** How long a VM waits before it looks for itself whether its host is through: a notice may have been lost. */
const LOOK_EVERY: Duration = minutes(3);

/** Its host goes on to a disruptive step: stopped with grace, and started again when the host is through. */
export function hostMaintenance(vm: VmRecord, hostId: string, begins: boolean, context: VmContext): VmStep {
  if (hostOf(vm) !== hostId || begins === waitsForHost(vm)) return same(vm);
  return begins ? holdForHost(vm, context.now) : hostIsThrough(vm, context);
}

function holdForHost(vm: VmRecord, now: Instant): VmStep {
  const held: VmRecord = { ...vm, maintenance: { since: now, lookAt: after(now, LOOK_EVERY) } };
  const { instance } = vm;
  // What the host has not taken on cannot be stopped: it stays listed for later.
  if (!live(instance) || instance.phase === 'Pending' || instance.stop !== null || instance.timedOutAt !== null) {
    return same(held);
  }
  const told = askToEnd(held, vmPolicyOf(vm.body).grace, now, true);
  const message = `host ${hostOf(vm)} is about to be updated: instance ${instance.instanceId} is stopped with grace and started again afterwards; nothing is counted`;
  return { vm: told.vm, facts: [note('VM Stopped For Host', message), ...told.facts] };
}

const hostIsThrough = (vm: VmRecord, context: VmContext): VmStep => startIfDue({ ...vm, maintenance: null }, context);

/** A host that says it ended an instance for its own update, before we were told: the next one waits for it, too. */
export function noteMaintenance(vm: VmRecord, { now, hosts }: VmContext): VmRecord {
  if (waitsForHost(vm) || hosts?.inMaintenance !== true) return vm;
  return { ...vm, maintenance: { since: now, lookAt: after(now, LOOK_EVERY) } };
}

/** The notice that the host is through may have been lost: nothing waits for it for ever. */
export function lookForHost(vm: VmRecord, context: VmContext): VmStep {
  const { maintenance } = vm;
  if (maintenance == null || context.now < maintenance.lookAt) return same(vm);
  if (context.hosts?.inMaintenance === false || context.hosts?.fenced === true) return hostIsThrough(vm, context);
  return same({ ...vm, maintenance: { ...maintenance, lookAt: after(context.now, LOOK_EVERY) } });
}
