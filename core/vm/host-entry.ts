/**
 * A VM in the list that its host's report is answered with: what the host is told of it, and by what the host's word is
 * known to be no news, so that the VM itself need not be read (DESIGN section 6, one request for an idle report).
 */
import type { InstanceSeen } from '../contract/agent-bodies.ts';
import type { VmId } from '../kit/ids.ts';
import { forgotten } from './failures.ts';
import { holdSeen, isSame, settledHold } from './lease.ts';
import { type Hold, live, type VmRecord } from './record.ts';
import { type KeptLine, keptLine } from './told.ts';

export type HostEntry = { vmId: VmId; line: KeptLine | null; settled: Settled | null };

/** Of an instance that runs and waits for no word of its host: what the host last said of it. */
export type Settled = { resets: number; hold: Hold | null };

export const hostEntry = (vm: VmRecord): HostEntry => ({ vmId: vm.vmId, line: keptLine(vm), settled: settledOf(vm) });

function settledOf(vm: VmRecord): Settled | null {
  const { instance } = vm;
  if (vm.removed !== null || vm.awaitingHost != null || vm.lostHost != null || !live(instance)) return null;
  const runs = instance.phase === 'Running' && instance.tellsRun === true && instance.startDeadlineAt === null;
  const ails = instance.condition != null || instance.timedOutAt !== null || forgotten(vm) !== vm;
  const hold = settledHold(vm, instance);
  if (!runs || ails || hold === undefined) return null;
  return { resets: instance.resets?.count ?? 0, hold };
}

/** Whether the VM, as it was when its entry was written, would not be changed by what its host says of it. */
export function isAsKnown({ line, settled }: HostEntry, seen: InstanceSeen): boolean {
  if (line === null || settled === null || seen.instanceId !== line.instanceId) return false;
  return (
    seen.phase === 'Running' &&
    seen.condition === undefined &&
    (seen.resets ?? settled.resets) === settled.resets &&
    isSame(holdSeen(seen), settled.hold)
  );
}
