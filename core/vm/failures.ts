/** Ends that count: start failures and unstable runs, their waits, and when no more is tried (DESIGN section 3 rules 1 and 2). */
import { vmRetryDelay } from '../policy/backoff.ts';
import type { EndCause } from '../contract/words.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, between, type Duration, type Instant, milliseconds, sayDuration } from '../kit/time.ts';
import { type Evidence, note, plan, type VmStep, type VmTime } from './step.ts';
import type { Instance, VmRecord } from './record.ts';

/**
 * How long an instance had been Running: what its host says of it; of an older agent, which says nothing, the time
 * between its reports. Null: it never was.
 */
export function ranFor(instance: Instance, said: number | undefined, now: Instant): Duration | null {
  if (said !== undefined) return said > 0 || instance.everRunning ? milliseconds(Math.round(said * 1000)) : null;
  if (instance.runningSince !== null) return between(instance.runningSince, now);
  // It ran, and nobody saw since when: for as good as no time.
  return instance.everRunning ? milliseconds(0) : null;
}

/** What a run of at least `stableFor`, a verb, or a new launch definition forgets; `lastFailure` stays as evidence. */
export const forgotten = (vm: VmRecord): VmRecord =>
  vm.unstableRuns === null && !vm.failuresInARow && !vm.hostLosses && vm.gaveUpAt == null
    ? vm
    : { ...vm, unstableRuns: null, failuresInARow: 0, hostLosses: 0, gaveUpAt: null };

export const keepEvidence = (vm: VmRecord, end: Evidence, reason: EndCause, at: Instant): VmRecord => ({
  ...vm,
  lastFailure: { reason, message: end.message ?? vm.lastFailure?.message ?? null, console: end.console, at },
});

/**
 * Counts a start failure or an unstable run, once, and plans the retry; a stable run is restarted at once, uncounted.
 * @param ran how long it had been Running; null: never
 */
export function countEnd(vm: VmRecord, instance: Instance, end: Evidence, ran: Duration | null, time: VmTime): VmStep {
  const { now } = time;
  const { stableFor } = vmPolicyOf(vm.body);
  if (ran !== null && ran >= stableFor) return { vm: plan(forgotten(vm), now), facts: [] };
  const counted = keepEvidence({ ...vm, failuresInARow: (vm.failuresInARow ?? 0) + 1 }, end, end.cause, now);
  return ran === null ? countStartFailure(counted, instance, end, time) : countUnstableRun(counted, end, ran, time);
}

function countUnstableRun(vm: VmRecord, end: Evidence, ran: Duration, time: VmTime): VmStep {
  const { now, draw } = time;
  const count = (vm.unstableRuns?.count ?? 0) + 1;
  const retryAfter = after(now, vmRetryDelay(vmPolicyOf(vm.body).backoff, count, draw.delay));
  const what = `ran only ${sayDuration(ran)} and ended ${end.cause} (unstable run ${count})`;
  const next = tryLater({ ...vm, unstableRuns: { count, retryAfter } }, what, end, retryAfter, now);
  return {
    vm: next.vm,
    facts: [{ kind: 'metric', name: 'VmUnstableRun', group: null, value: 1 }, ...next.facts],
  };
}

function countStartFailure(vm: VmRecord, { instanceId }: Instance, end: Evidence, time: VmTime): VmStep {
  const { now, draw } = time;
  const consecutiveFailCount = (vm.startFailure?.consecutiveFailCount ?? 0) + 1;
  const retryAfter = after(now, vmRetryDelay(vmPolicyOf(vm.body).backoff, consecutiveFailCount, draw.delay));
  const startFailure = {
    consecutiveFailCount,
    lastFailedInstanceId: instanceId,
    retryAfter,
    reason: end.cause,
    message: end.message,
  };
  const what = `never came to run: ${end.cause} (start failure ${consecutiveFailCount})`;
  const next = tryLater({ ...vm, startFailure }, what, end, retryAfter, now);
  return {
    vm: next.vm,
    facts: [{ kind: 'metric', name: 'VmStartFailure', group: null, value: 1 }, ...next.facts],
  };
}

function tryLater(vm: VmRecord, what: string, end: Evidence, retryAfter: Instant, now: Instant): VmStep {
  const said = `${what}${end.message === null ? '' : `: ${end.message}`}`;
  const { giveUpAfter } = vmPolicyOf(vm.body);
  const inARow = vm.failuresInARow ?? 0;
  if (giveUpAfter !== null && inARow >= giveUpAfter) {
    const message = `${said}; that is failure ${inARow} in a row, and after ${giveUpAfter} no more is tried: start it, or give it a new launch definition`;
    return { vm: { ...vm, gaveUpAt: now, pendingStart: null }, facts: [note('VM Gave Up', message, 'warning')] };
  }
  const delayed = `${said}; the next start is delayed by ${sayDuration(between(now, retryAfter))}`;
  return { vm: plan(vm, retryAfter), facts: [note('VM Start Delayed', delayed, 'warning')] };
}

/** The limit was raised above what is on record, or taken away: what was given up is tried again. */
export function reconsider(vm: VmRecord, now: Instant): VmRecord {
  if (vm.gaveUpAt == null) return vm;
  const { giveUpAfter } = vmPolicyOf(vm.body);
  if (giveUpAfter !== null && (vm.failuresInARow ?? 0) >= giveUpAfter) return vm;
  const waits = [vm.startFailure?.retryAfter ?? now, vm.unstableRuns?.retryAfter ?? now, now];
  const notBefore = waits.reduce((latest, at) => (at > latest ? at : latest));
  return { ...vm, gaveUpAt: null, pendingStart: vm.power.on ? { notBefore } : null };
}
