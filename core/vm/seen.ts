/** What a host's own report says of an instance: how long it runs, what ails its guest, what it is held by (rules 2, 6, 11). */
import type { InstanceSeen } from '../contract/agent-bodies.ts';
import { after, type Instant, milliseconds } from '../kit/time.ts';
import { vmPolicyOf } from '../policy/vm-policy.ts';
import { echoLease, sendLease } from './lease.ts';
import type { LiveInstance, VmRecord } from './record.ts';
import { live } from './record.ts';
import { running, takenOn } from './report.ts';
import { inTurn, note, same, type VmStep, type VmTime } from './step.ts';

/** The end of an instance is said in a report of its own, with its cause: here only a living one is seen. */
export function seeInstance(vm: VmRecord, seen: InstanceSeen, time: VmTime): VmStep {
  return inTurn(
    vm,
    (v) => seePhase(v, seen, time),
    (v) => seeCondition(v, seen, time.now),
    (v) => seeResets(v, seen, time.now),
    (v) => seeLease(v, seen, time.now),
  );
}

const present = (vm: VmRecord, { instanceId }: InstanceSeen): LiveInstance | null =>
  live(vm.instance) && vm.instance.instanceId === instanceId ? vm.instance : null;

function seePhase(vm: VmRecord, seen: InstanceSeen, time: VmTime): VmStep {
  const instance = present(vm, seen);
  if (instance === null) return same(vm);
  switch (seen.phase) {
    case 'Scheduled':
      return takenOn(vm, instance, time);
    case 'Running':
      return running(vm, instance, seen.ranSeconds, time);
    case 'Pending':
    case 'Succeeded':
    case 'Failed':
      return same(vm);
  }
}

function seeCondition(vm: VmRecord, seen: InstanceSeen, now: Instant): VmStep {
  const instance = present(vm, seen);
  const before = instance?.condition ?? null;
  const kind = seen.condition ?? null;
  if (instance === null || (before?.kind ?? null) === kind) return same(vm);
  const condition = kind === null ? null : { kind, since: now };
  const said =
    kind === null
      ? note('VM Guest Running Again', `instance ${instance.instanceId}: its guest runs again`)
      : note('VM Guest Not Running', `instance ${instance.instanceId}: ${sayCondition(kind)}`, 'warning');
  return { vm: { ...vm, instance: { ...instance, condition } }, facts: [said] };
}

/** What ails a guest, in words; those of a newer agent as it says them. */
export function sayCondition(kind: string): string {
  switch (kind) {
    case 'IoError':
      return 'its guest is paused by an I/O error (often a full disk)';
    case 'Paused':
      return 'its guest is paused';
    case 'Suspended':
      return 'its guest was suspended by a person, and is left alone';
    case 'Stopped':
      return 'its process is stopped';
    case 'NotResponding':
      return 'its hypervisor does not answer';
    default:
      return `its guest does not run (${kind})`;
  }
}

/** So many resets within `stableFor` are looked at by a person (rule 11). */
const RESETS_OF_NOTE = 3;

function seeResets(vm: VmRecord, seen: InstanceSeen, now: Instant): VmStep {
  const instance = present(vm, seen);
  const known = instance?.resets ?? { count: 0, seenAt: [] };
  const count = seen.resets ?? known.count;
  if (instance === null || count === known.count) return same(vm);
  const more = Math.min(Math.max(0, count - known.count), RESETS_OF_NOTE);
  const seenAt = [...known.seenAt, ...Array.from({ length: more }, () => now)].slice(-RESETS_OF_NOTE);
  const next: VmRecord = { ...vm, instance: { ...instance, resets: { count, seenAt } } };
  const often = resetsTooOften(next, now);
  const message = `instance ${instance.instanceId}: its guest has reset itself ${count === 1 ? 'once' : `${count} times`}`;
  return { vm: next, facts: [note('VM Guest Reset', message, often ? 'warning' : 'info')] };
}

/** Its guest has reset itself three times within `stableFor`; the last of them not longer ago. */
export function resetsTooOften(vm: VmRecord, now: Instant): boolean {
  const seenAt = live(vm.instance) ? (vm.instance.resets?.seenAt ?? []) : [];
  const [first] = seenAt;
  if (first === undefined || seenAt.length < RESETS_OF_NOTE) return false;
  return now < after(first, milliseconds(vmPolicyOf(vm.body).stableFor + 1));
}

function seeLease(vm: VmRecord, seen: InstanceSeen, now: Instant): VmStep {
  const instance = present(vm, seen);
  if (instance === null) return same(vm);
  // The answer to this report names the VM as it is declared now.
  const told = sendLease(vm, echoLease(instance, seen, now), now);
  return told === instance ? same(vm) : same({ ...vm, instance: told });
}
