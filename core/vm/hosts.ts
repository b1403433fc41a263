/** What becomes of a VM with its host: silence, fencing, and the host's own update (DESIGN section 3 rules 6 and 10). */
import { vmPolicyOf } from '../policy.ts';
import { after, type Duration, type Instant, minutes } from '../time.ts';
import type { VmContext } from './event.ts';
import { askToEnd, endInstance, note, startIfDue, type VmStep } from './life.ts';
import { hostOf, live, type VmRecord, waitsForHost } from './record.ts';

const same = (vm: VmRecord): VmStep => ({ vm, facts: [] });

/** Silence proves nothing: the instance is Unknown, and neither counted nor replaced (rule 6). */
export function hostSilent(vm: VmRecord, hostId: string, now: Instant): VmStep {
  const { instance } = vm;
  if (hostOf(vm) !== hostId || !live(instance) || instance.phase === 'Pending' || instance.phase === 'Unknown')
    return same(vm);
  return {
    vm: { ...vm, instance: { ...instance, phase: 'Unknown', since: now } },
    facts: [
      note(
        'VM Instance Unknown',
        `host ${hostId} is silent: nothing is known of instance ${instance.instanceId}, and nothing is counted or started elsewhere`,
        'warning',
      ),
    ],
  };
}

/**
 * The host is known to be off: what ran there has ended, and nobody counts it. What is to run again does so once: on
 * another host if the VM may, else there when it comes back.
 */
export function hostFenced(vm: VmRecord, hostId: string, context: VmContext): VmStep {
  if (hostOf(vm) !== hostId) return same(vm);
  const { instance } = vm;
  const elsewhere = anotherHost(vm, hostId, context);
  const untouched = !live(instance) || (instance.phase === 'Pending' && instance.stop === null);
  if (untouched && (elsewhere === null || (instance === null && vm.pendingStart === null))) return same(vm);
  const lost = { phase: 'Failed', cause: 'HostLost', message: `host ${hostId} was fenced`, console: null } as const;
  const ended = live(instance) ? endInstance({ ...vm, maintenance: null }, lost, context) : same(vm);
  const moves = elsewhere !== null && ended.vm.pendingStart !== null;
  const next = startIfDue(moves ? { ...ended.vm, placedOn: elsewhere, maintenance: null } : ended.vm, context);
  const moved = moves
    ? [note('VM Moved', `host ${hostId} was fenced: it goes on on host ${elsewhere}`, 'warning')]
    : [];
  return { vm: next.vm, facts: [...ended.facts, ...moved, ...next.facts] };
}

/** The first host of the VM's list that is in order and is not the one that was lost; null when it may not or cannot. */
function anotherHost(vm: VmRecord, lost: string, { hosts }: VmContext) {
  if (vm.body.restartElsewhere !== true || !vm.power.on || vm.deleting !== null) return null;
  return hosts?.inOrder.find((host) => host !== lost) ?? null;
}

/** How long a VM waits before it looks for itself whether its host is back: a notice may have been lost. */
const LOOK_EVERY: Duration = minutes(3);

/** Its host goes on to a disruptive step: stopped with grace, and started again when the host is through (rule 10). */
export function hostMaintenance(vm: VmRecord, hostId: string, begins: boolean, context: VmContext): VmStep {
  if (hostOf(vm) !== hostId || begins === waitsForHost(vm)) return same(vm);
  return begins ? holdForHost(vm, context.now) : hostIsBack(vm, context);
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

function hostIsBack(vm: VmRecord, context: VmContext): VmStep {
  return startIfDue({ ...vm, maintenance: null }, context);
}

/** A host that says it ended an instance for its own update, before we were told: the next one waits for it, too. */
export function noteMaintenance(vm: VmRecord, { now, hosts }: VmContext): VmRecord {
  if (waitsForHost(vm) || hosts?.inMaintenance !== true) return vm;
  return { ...vm, maintenance: { since: now, lookAt: after(now, LOOK_EVERY) } };
}

/** The notice that the host is back may have been lost: nothing waits for it for ever. */
export function lookForHost(vm: VmRecord, context: VmContext): VmStep {
  const { maintenance } = vm;
  if (maintenance == null || context.now < maintenance.lookAt) return same(vm);
  if (context.hosts?.inMaintenance === false) return hostIsBack(vm, context);
  return same({ ...vm, maintenance: { ...maintenance, lookAt: after(context.now, LOOK_EVERY) } });
}
