/** What becomes of a VM with its host: silence, fencing, and the host's own update (DESIGN section 3 rules 6 and 10). */
import type { NodeId } from '../kit/ids.ts';
import { EVENT_SLACK } from '../node/signs.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, type Duration, type Instant, minutes } from '../kit/time.ts';
import type { VmContext, VmEvent } from './event.ts';
import { askToEnd, endInstance, note, startIfDue, type VmStep } from './life.ts';
import { hostOf, type Instance, live, notTakenOn, type VmRecord, waitsForHost } from './record.ts';
import { fencedWhileAwaited } from './recover.ts';

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
 * The host is known to have been off: what ran there has ended, and nobody counts it. What is to run again does so once:
 * on another host if the VM may, else there when it comes back. Told late, this says nothing of an instance that the
 * host has taken on since (G5).
 */
export function hostFenced(
  vm: VmRecord,
  { hostId, at, asOf }: Extract<VmEvent, { kind: 'hostFenced' }>,
  context: VmContext,
): VmStep {
  const met = hostOf(vm) === hostId ? fencedWhileAwaited(vm, asOf, context.now) : null;
  if (met === null) return same(vm);
  return endByFence(met, hostId, asOf === undefined ? at : after(asOf, EVENT_SLACK), context);
}

function endByFence(vm: VmRecord, hostId: string, offUntil: Instant, context: VmContext): VmStep {
  const { instance } = vm;
  const elsewhere = anotherHost(vm, hostId, context);
  if (!live(instance)) return goOn(vm, hostId, elsewhere, context);
  if (notTakenOn(instance) && elsewhere === null) return same(vm);
  // Taken on or seen to run after that instant: the host is on again.
  const since = instance.phase === 'Unknown' ? instance.createdAt : instance.since;
  if (since > offUntil) return same(vm);
  return leave(vm, instance, hostId, elsewhere, context);
}

/** A start that the lost host had not taken on is owed under every strategy; for what has run the strategy decides. */
function leave(vm: VmRecord, instance: Instance, lost: string, elsewhere: NodeId | null, context: VmContext): VmStep {
  const end = { phase: 'Failed', cause: 'HostLost', message: `host ${lost} was fenced`, console: null } as const;
  const ended = endInstance({ ...vm, maintenance: null }, end, context);
  const owed: VmRecord = { ...ended.vm, pendingStart: { notBefore: context.now } };
  const next = goOn(notTakenOn(instance) ? owed : ended.vm, lost, elsewhere, context);
  return { vm: next.vm, facts: [...ended.facts, ...next.facts] };
}

/** No other host was in order when its own was fenced: once one is, what the lost host never took on goes there. */
export function leaveLostHost(vm: VmRecord, context: VmContext): VmStep {
  const { instance } = vm;
  if (context.hosts?.fenced !== true || !live(instance) || !notTakenOn(instance)) return same(vm);
  const elsewhere = anotherHost(vm, hostOf(vm), context);
  return elsewhere === null ? same(vm) : leave(vm, instance, hostOf(vm), elsewhere, context);
}

function goOn(vm: VmRecord, lost: string, elsewhere: NodeId | null, context: VmContext): VmStep {
  // A host that is off is not being updated: nothing waits for that.
  if (elsewhere === null || vm.pendingStart === null) return startIfDue({ ...vm, maintenance: null }, context);
  const next = startIfDue({ ...vm, placedOn: elsewhere, maintenance: null }, context);
  const moved = note('VM Moved', `host ${lost} was fenced: it goes on on host ${elsewhere}`, 'warning');
  return { vm: next.vm, facts: [moved, ...next.facts] };
}

/** The first host of the VM's list that is in order and is not the one that was lost; null when it may not or cannot. */
function anotherHost(vm: VmRecord, lost: string, { hosts }: VmContext): NodeId | null {
  if (vm.body.restartElsewhere !== true || !vm.power.on) return null;
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
  if (context.hosts?.inMaintenance === false || context.hosts?.fenced === true) return hostIsBack(vm, context);
  return same({ ...vm, maintenance: { ...maintenance, lookAt: after(context.now, LOOK_EVERY) } });
}
