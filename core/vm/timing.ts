/** When a VM must be looked at again. */
import { vmPolicyOf } from '../policy/vm-policy.ts';
import type { Alarm } from '../decision/alarm.ts';
import { after, earliest, type Instant } from '../kit/time.ts';
import { live, type VmRecord, waitsForHost } from './record.ts';
import { awaitedAt } from './recover.ts';

/** The earliest instant for which a timer is armed; null when the VM waits for nothing that time brings. */
export function vmAlarm(vm: VmRecord): Alarm | null {
  if (vm.removed !== null) return null;
  const awaited = awaitedAt(vm);
  if (awaited !== null) return { at: awaited, retry: false };
  const { instance } = vm;
  const present = live(instance) ? instance : null;
  const wanted = vm.pendingStart !== null && present === null && vm.power.on && !waitsForHost(vm);
  const retryAt = wanted ? (vm.pendingStart?.notBefore ?? null) : null;
  const lookAt = vm.maintenance?.lookAt ?? null;
  const at = earliest([retryAt, present?.startDeadlineAt ?? null, present?.nextWakeAt ?? null, stableAt(vm), lookAt]);
  return at === null ? null : { at, retry: at === retryAt };
}

function stableAt(vm: VmRecord): Instant | null {
  const { instance, unstableRuns } = vm;
  if (unstableRuns === null || instance?.phase !== 'Running' || instance.runningSince === null) return null;
  return after(instance.runningSince, vmPolicyOf(vm.body).stableFor);
}

export const vmDueAt = (vm: VmRecord): Instant | null => vmAlarm(vm)?.at ?? null;

const FAILURES_OF_A_LOOP = 3;

/**
 * What the gauge counts (DESIGN section 6): by the record, which stays while an instance tries, and not by the status,
 * which flickers. Stable running and a verb clear the record.
 */
export const inCrashLoop = (vm: VmRecord): boolean =>
  vm.removed === null &&
  (vm.startFailure?.consecutiveFailCount ?? 0) + (vm.unstableRuns?.count ?? 0) >= FAILURES_OF_A_LOOP;
