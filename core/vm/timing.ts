/** When a VM must be looked at again. */
import { consoleGoneAt } from './console.ts';
import { vmStableAt } from './event.ts';
import type { Alarm } from '../decision/alarm.ts';
import { earliest, type Instant } from '../kit/time.ts';
import { live, type VmRecord, waitsForHost } from './record.ts';
import { awaitedAt } from './recover.ts';

/** The earliest instant for which a timer is armed; null when the VM waits for nothing that time brings. */
export function vmAlarm(vm: VmRecord): Alarm | null {
  if (vm.removed !== null) return null;
  const awaited = awaitedAt(vm);
  if (awaited !== null) return { at: awaited, retry: false };
  const { instance } = vm;
  const present = live(instance) ? instance : null;
  const held = waitsForHost(vm) || vm.lostHost != null;
  const wants = vm.pendingStart !== null && present === null && vm.power.on && !held;
  const retryAt = wants ? (vm.pendingStart?.notBefore ?? null) : null;
  const at = earliest([
    retryAt,
    hostAskedAt(vm),
    present?.nextWakeAt ?? null,
    present?.lease?.lookAt ?? null,
    vm.maintenance?.lookAt ?? null,
    vm.lostHost?.lookAt ?? null,
    consoleGoneAt(vm),
  ]);
  return at === null ? null : { at, retry: at === retryAt };
}

/** When the host's word is needed on whether it runs: at its start deadline, and once it may have run for `stableFor`. */
function hostAskedAt(vm: VmRecord): Instant | null {
  const present = live(vm.instance) ? vm.instance : null;
  const first = earliest([present?.startDeadlineAt ?? null, vmStableAt(vm)]);
  const again = present?.askHostAt ?? null;
  return first !== null && again !== null && again > first ? again : first;
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
