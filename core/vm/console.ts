/** The last of a live guest's console: asked for by a person, sent by its host, kept for ten minutes (DESIGN section 6). */
import type { VmReport } from '../contract/agent-bodies.ts';
import { refused } from '../decision/fact.ts';
import { tailOf } from '../kit/text.ts';
import { after, type Duration, type Instant, minutes } from '../kit/time.ts';
import { hostOf, live, type LiveInstance, type VmRecord } from './record.ts';
import { note, same, type VmStep } from './step.ts';

export const CONSOLE_KEPT: Duration = minutes(10);
const CONSOLE_LENGTH = 16 * 1024;

/** Asked again, it is fetched again; what was there before goes. */
export function askConsole(vm: VmRecord, by: string, now: Instant): VmStep | ReturnType<typeof refused> {
  if (!live(vm.instance) || vm.instance.phase === 'Pending') {
    return refused(
      409,
      'NoLiveInstance',
      `VM ${vm.vmId} has no instance that its host has taken on; what its last failure left is lastFailure.console`,
    );
  }
  const hostId = hostOf(vm);
  return {
    vm: { ...vm, console: { askedAt: now, by, received: null } },
    facts: [
      { kind: 'wake', hostId, action: 'StartInstance', generation: vm.power.sequence, decided: false },
      note('VM Console Asked', `${by} asks host ${hostId} for the last of its console`),
    ],
  };
}

/** Until when its host is to send it; null: nobody waits for it. */
export const consoleWantedUntil = ({ console }: VmRecord): Instant | null =>
  console == null || console.received !== null ? null : after(console.askedAt, CONSOLE_KEPT);

const consoleAsked = (vm: VmRecord, now: Instant): boolean => {
  const until = consoleWantedUntil(vm);
  return until !== null && now < until;
};

export function keepConsole(vm: VmRecord, instance: LiveInstance, report: VmReport, now: Instant): VmStep {
  if (vm.console == null || !consoleAsked(vm, now) || report.console === undefined) return same(vm);
  const received = { at: now, instanceId: instance.instanceId, text: tailOf(report.console, CONSOLE_LENGTH) };
  return same({ ...vm, console: { ...vm.console, received } });
}

export const consoleGoneAt = ({ console }: VmRecord): Instant | null =>
  console == null ? null : after(console.askedAt, CONSOLE_KEPT);

export function dropConsole(vm: VmRecord, now: Instant): VmStep {
  const goneAt = consoleGoneAt(vm);
  return goneAt === null || now < goneAt ? same(vm) : same({ ...vm, console: null });
}
