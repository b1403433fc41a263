/** The start deadline: drawn, edited, and judged by the control plane only with the word of the host (DESIGN section 3 rule 5). */
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { after, type Instant, instant, milliseconds, minutes } from '../kit/time.ts';
import type { VmContext } from './event.ts';
import { timeOut } from './life.ts';
import { hostOf, live, takenOnAt, type VmRecord, wanted } from './record.ts';
import { same, type VmStep, type VmTime } from './step.ts';

/** Drawn around the deadline: ± one fifth, as the seed's launcher draws 4 to 6 minutes for 5. */
export function startDeadlineAt(vm: VmRecord, from: Instant, { draw }: VmTime): Instant | null {
  const { startDeadline } = vmPolicyOf(vm.body);
  return startDeadline === null ? null : instant(Math.round(from + startDeadline * (0.8 + 0.4 * draw.deadline)));
}

/** Between looks at a host that is to say whether an instance runs, in case its next report was not passed on. */
export const ASK_AGAIN = minutes(15);

/**
 * The deadline has passed. A host that has enrolled is asked first, since an outage is no start failure: it is judged with
 * its next report. Of a host that never enrolled no report is to come.
 */
export function passStartDeadline(vm: VmRecord, context: VmContext): VmStep {
  const { instance } = vm;
  const { now, hosts } = context;
  if (!live(instance) || instance.startDeadlineAt === null || now < instance.startDeadlineAt) return same(vm);
  if (instance.stop !== null || instance.timedOutAt !== null)
    return same({ ...vm, instance: { ...instance, startDeadlineAt: null } });
  if (hosts?.enrolled !== true) return timeOut(vm, instance, context);
  if (instance.askHostAt != null && now < instance.askHostAt) return same(vm);
  const hostId = hostOf(vm);
  return {
    vm: { ...vm, instance: { ...instance, askHostAt: after(now, ASK_AGAIN) } },
    facts: [
      { kind: 'listen', hostId },
      { kind: 'wake', hostId, action: 'StartInstance', generation: vm.power.sequence, decided: false },
    ],
  };
}

/** Its host has spoken since, and does not say that it was Running in time. */
export function judgeStart(vm: VmRecord, time: VmTime): VmStep {
  const { instance } = vm;
  if (!wanted(instance) || instance.startDeadlineAt === null || time.now < instance.startDeadlineAt) return same(vm);
  return timeOut(vm, instance, time);
}

/** Whether it came to run only after its deadline, as its host counts; without a count the host is believed. */
export function ranTooLate(vm: VmRecord, ranSeconds: number | undefined, now: Instant): boolean {
  const deadline = live(vm.instance) ? vm.instance.startDeadlineAt : null;
  if (deadline === null || ranSeconds === undefined) return false;
  return now - milliseconds(ranSeconds * 1000) > deadline;
}

/** An edited deadline holds for the instance that is starting, from when its host took it on. */
export function redrawDeadline(before: VmRecord, vm: VmRecord, time: VmTime): VmRecord {
  const { instance } = vm;
  if (before.body.startDeadline === vm.body.startDeadline) return vm;
  if (!wanted(instance) || instance.everRunning || instance.phase === 'Pending') return vm;
  const deadline = startDeadlineAt(vm, takenOnAt(instance), time);
  return { ...vm, instance: { ...instance, startDeadlineAt: deadline, askHostAt: null } };
}
