/** What becomes of a VM with its host: silence, fencing, another boot, a lease that ran out (DESIGN section 3 rule 6). */
import type { NodeId } from '../kit/ids.ts';
import { EVENT_SLACK } from '../node/signs.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, between, type Duration, hours, type Instant, minutes } from '../kit/time.ts';
import type { VmContext, VmEvent } from './event.ts';
import { endInstance, startIfDue } from './life.ts';
import { leaseOverAt } from './lease.ts';
import { hostOf, live, type LiveInstance, type LostHost, notTakenOn, takenOnAt, type VmRecord } from './record.ts';
import { fencedWhileAwaited } from './recover.ts';
import { note, same, type VmStep } from './step.ts';

/** Silence proves nothing: the instance is Unknown, and neither counted nor replaced (rule 6). */
export function hostSilent(vm: VmRecord, hostId: string, now: Instant): VmStep {
  const { instance } = vm;
  if (hostOf(vm) !== hostId || !live(instance) || instance.phase === 'Pending' || instance.phase === 'Unknown')
    return same(vm);
  return {
    vm: { ...vm, instance: { ...instance, takenOnAt: takenOnAt(instance), phase: 'Unknown', since: now } },
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
 * The host is known to have been off: what ran there has ended, and nobody counts it. Nothing is started on it until it
 * reports from another boot; what is to run again goes to another host if the VM may. Told late, this says nothing of an
 * instance that the host has taken on since (G5).
 */
export function hostFenced(
  vm: VmRecord,
  { hostId, at, asOf }: Extract<VmEvent, { kind: 'hostFenced' }>,
  context: VmContext,
): VmStep {
  const met = hostOf(vm) === hostId ? fencedWhileAwaited(vm, asOf, context.now) : null;
  if (met === null) return same(vm);
  const back = context.hosts?.fenced === false;
  const marked = back ? met : { ...met, lostHost: lost('fenced', context.now, met) };
  const offUntil = asOf === undefined ? at : after(asOf, EVENT_SLACK);
  const { instance } = met;
  if (!live(instance)) return goOn(marked, context);
  // What it has not taken on it takes on once it is back; what it took on later shows that it is.
  const stays = notTakenOn(instance) ? back && instance.createdAt > offUntil : takenOnAt(instance) > offUntil;
  return stays ? same(met) : leave(marked, instance, `host ${hostId} was fenced`, context);
}

const lost = (how: LostHost['how'], now: Instant, vm: VmRecord): LostHost => ({
  since: now,
  how,
  lookAt: after(now, vm.body.restartElsewhere === true ? LOOK_EVERY : LOOK_PATIENTLY),
});

/** A start that the lost host had not taken on is owed under every strategy; for what has run the strategy decides. */
function leave(vm: VmRecord, instance: LiveInstance, message: string, context: VmContext): VmStep {
  const never = notTakenOn(instance);
  const ran = instance.runningSince === null ? null : between(instance.runningSince, context.now);
  const end = { phase: 'Failed', cause: 'HostLost', message, console: null, ran } as const;
  const owed = never && instance.stop === null && vm.power.on;
  const ended = endInstance({ ...vm, maintenance: null, hostLosses: countLoss(vm, instance, ran) }, end, context);
  const left: VmRecord =
    never && ended.vm.instance !== null
      ? { ...ended.vm, instance: { ...ended.vm.instance, neverMade: true } }
      : ended.vm;
  const next = goOn(owed ? { ...left, pendingStart: { notBefore: context.now, promised: true } } : left, context);
  return { vm: next.vm, facts: [...ended.facts, ...next.facts] };
}

/** Ends with its host, each soon after it came to run: the VM may be what takes its host down. */
function countLoss(vm: VmRecord, instance: LiveInstance, ran: Duration | null): number {
  const before = vm.hostLosses ?? 0;
  if (notTakenOn(instance) || instance.stop !== null || !instance.everRunning) return before;
  return ran !== null && ran < vmPolicyOf(vm.body).stableFor ? before + 1 : 0;
}
/** So many in a row are looked at by a person. */
export const HOST_LOSSES_OF_NOTE = 3;

function goOn(vm: VmRecord, context: VmContext): VmStep {
  // A host that is off is not being updated: nothing waits for that.
  const free: VmRecord = { ...vm, maintenance: null };
  const from = hostOf(vm);
  const elsewhere = anotherHost(vm, from, context);
  if (elsewhere === null || vm.pendingStart === null || live(vm.instance)) return startIfDue(free, context);
  const why = vm.lostHost?.how === 'unheard' ? 'was not heard for the length of its lease' : 'was fenced';
  const next = startIfDue({ ...free, placedOn: elsewhere, lostHost: null }, context);
  const moved = note('VM Moved', `host ${from} ${why}: it goes on on host ${elsewhere}`, 'warning');
  return { vm: next.vm, facts: [moved, ...next.facts] };
}

/** The first host of the VM's list that is in order and is not the one that was lost; null when it may not or cannot. */
function anotherHost(vm: VmRecord, left: string, { hosts }: VmContext): NodeId | null {
  if (vm.body.restartElsewhere !== true || !vm.power.on) return null;
  return hosts?.inOrder.find((host) => host !== left) ?? null;
}

/** How long a VM waits before it looks for itself whether its host is back, or another in order: a notice may have been lost. */
const LOOK_EVERY: Duration = minutes(3);
const LOOK_PATIENTLY: Duration = hours(1);

/** It runs another boot: what the one before had taken on has ended, and the fence is over. */
export function hostBooted(
  vm: VmRecord,
  { hostId, bootedAt, alive }: Extract<VmEvent, { kind: 'hostBooted' }>,
  context: VmContext,
): VmStep {
  if (hostOf(vm) !== hostId) return same(vm);
  if (vm.awaitingHost != null) return same(vm.lostHost == null ? vm : { ...vm, lostHost: null });
  const { instance } = vm;
  const back = hostIsThere(vm, context);
  const gone = live(instance) && !notTakenOn(instance) && !alive.includes(instance.instanceId);
  if (!gone || takenOnAt(instance) > bootedAt) return startIfDue(back, context);
  const ran = instance.runningSince === null ? null : between(instance.runningSince, bootedAt);
  const counted: VmRecord = { ...back, hostLosses: countLoss(vm, instance, ran) };
  const message = `host ${hostId} runs another boot`;
  const ended = endInstance(counted, { phase: 'Failed', cause: 'HostLost', message, console: null, ran }, context);
  const next = startIfDue(ended.vm, context);
  return { vm: next.vm, facts: [...ended.facts, ...next.facts] };
}

/** What was lost is there again; one that came up in the middle of its update is still waited for. */
function hostIsThere(vm: VmRecord, { now, hosts }: VmContext): VmRecord {
  if (vm.lostHost == null) return vm;
  const updating = hosts?.inMaintenance === true;
  const maintenance = updating ? { since: now, lookAt: after(now, LOOK_EVERY) } : (vm.maintenance ?? null);
  return { ...vm, lostHost: null, maintenance };
}

/** A report of the host: one that was not heard for a lease is there again, and one that was fenced if nobody calls it so any more. */
export function hostIsHeard(vm: VmRecord, context: VmContext): VmStep {
  const { lostHost } = vm;
  const fenced = context.hosts?.fenced === true || (lostHost?.how === 'fenced' && context.hosts?.fenced !== false);
  if (lostHost == null || fenced) return same(vm);
  return startIfDue(hostIsThere(vm, context), context);
}

/** A lost host is looked at again, in case its return was not told; and for another one that is in order. */
export function lookForLostHost(vm: VmRecord, context: VmContext): VmStep {
  const { lostHost } = vm;
  const { now, hosts } = context;
  if (lostHost == null || now < lostHost.lookAt) return same(vm);
  const heard = hosts?.heardAt != null && hosts.heardAt > lostHost.since;
  const back = lostHost.how === 'unheard' ? heard && !hosts.fenced : hosts?.fenced === false;
  if (back) return startIfDue(hostIsThere(vm, context), context);
  return goOn({ ...vm, lostHost: { ...lostHost, lookAt: lost(lostHost.how, now, vm).lookAt } }, context);
}

/**
 * A host that was not heard for as long as it may hold the instance has ended it by itself. A host that was heard
 * meanwhile is looked at again when that will be so.
 */
export function passLease(vm: VmRecord, context: VmContext): VmStep {
  const { instance } = vm;
  const { now, hosts } = context;
  if (!live(instance) || notTakenOn(instance) || hosts?.heardAt == null) return same(vm);
  const overAt = leaseOverAt(vm, instance, hosts.heardAt);
  if (overAt === null) return same(forgetLook(vm, instance));
  if (now < overAt) return same(lookAgain(vm, instance, overAt));
  if (vm.awaitingHost != null && now < vm.awaitingHost.settleUntil) return same(vm);
  const marked: VmRecord = { ...vm, awaitingHost: null, lostHost: lost('unheard', now, vm) };
  const step = leave(marked, instance, `host ${hostOf(vm)} was not heard for the length of its lease`, context);
  const elsewhere = step.vm.lostHost == null;
  return elsewhere ? step : { vm: step.vm, facts: [...step.facts, { kind: 'listen', hostId: hostOf(vm) }] };
}

const lookAgain = (vm: VmRecord, instance: LiveInstance, at: Instant): VmRecord =>
  instance.lease == null || instance.lease.lookAt === at
    ? vm
    : { ...vm, instance: { ...instance, lease: { ...instance.lease, lookAt: at } } };

const forgetLook = (vm: VmRecord, instance: LiveInstance): VmRecord =>
  instance.lease?.lookAt == null
    ? vm
    : { ...vm, instance: { ...instance, lease: { ...instance.lease, lookAt: null } } };

/** Of records of an older release: asked of a host that is fenced, which has not taken it on and never will. */
export function leaveLostHost(vm: VmRecord, context: VmContext): VmStep {
  const { instance } = vm;
  if (context.hosts?.fenced !== true || !live(instance) || !notTakenOn(instance)) return same(vm);
  const marked: VmRecord = { ...vm, lostHost: lost('fenced', context.now, vm) };
  return leave(marked, instance, `host ${hostOf(vm)} was fenced`, context);
}

/** The host that a verb finds fenced: nothing is started there, and what it had not taken on, or had before, has ended. */
export function meetFence(vm: VmRecord, context: VmContext): VmStep {
  const { hosts, now } = context;
  if (hosts?.fenced !== true || vm.awaitingHost != null) return same(vm);
  const { instance } = vm;
  const marked: VmRecord = vm.lostHost == null ? { ...vm, lostHost: lost('fenced', now, vm) } : vm;
  const over = live(instance) && (notTakenOn(instance) || takenOnAt(instance) <= (hosts.fencedAt ?? now));
  return over ? leave(marked, instance, `host ${hostOf(vm)} was fenced`, context) : same(marked);
}

/** Asked of a host that never enrolled: whoever gives the instance up has ended it (rule 6). */
export function giveUpUntaken(vm: VmRecord, context: VmContext): VmStep {
  const { instance } = vm;
  if (context.hosts?.enrolled !== false || !live(instance) || !notTakenOn(instance)) return same(vm);
  const message = `host ${hostOf(vm)} never enrolled and had not taken it on`;
  const end = { phase: 'Failed', cause: 'Requested', message, console: null, ran: null } as const;
  const ended = endInstance(vm, end, context);
  if (ended.vm.instance === null) return ended;
  return { vm: { ...ended.vm, instance: { ...ended.vm.instance, neverMade: true } }, facts: ended.facts };
}
