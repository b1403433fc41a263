/** Why a person should look at a VM (DESIGN section 6): by its record alone, so that an index can carry it. */
import type { Attention } from '../contract/answer-parts.ts';
import { sayCause } from '../kit/cause.ts';
import { HOST_LOSSES_OF_NOTE } from './hosts.ts';
import { live, type VmRecord } from './record.ts';
import { printableStatus } from './status.ts';
import { inCrashLoop } from './timing.ts';

/** The first, in the order of attention; null: no reason. */
export function vmAttention(vm: VmRecord): Attention | null {
  if (vm.removed !== null) return null;
  const failed = sayCause(vm.lastFailure?.reason ?? null, vm.lastFailure?.message ?? null);
  if (vm.gaveUpAt != null) return { code: 'GaveUp', cause: failed };
  if (inCrashLoop(vm)) return { code: 'CrashLoop', cause: failed };
  const status = printableStatus(vm);
  if (status === 'Failed') return { code: 'Failed', cause: failed };
  if (status === 'Unknown') return { code: 'Unknown', cause: '' };
  const unwell = sayUnwell(vm);
  if (unwell !== null) return { code: 'Unwell', cause: sayCause(unwell) };
  if (status === 'Terminating') return { code: 'Terminating', cause: '' };
  return vm.startFailure !== null || vm.unstableRuns !== null ? { code: 'Crashed', cause: failed } : null;
}

/** What ails a guest whose instance runs, or ended with its host again and again; null: nothing. */
function sayUnwell(vm: VmRecord): string | null {
  const { instance, hostLosses = 0 } = vm;
  if (live(instance) && instance.condition != null) return instance.condition.kind;
  if (live(instance) && (instance.resets?.seenAt.length ?? 0) >= RESETS_OF_NOTE) return 'its guest resets itself';
  return hostLosses >= HOST_LOSSES_OF_NOTE ? 'it ended with its host again and again' : null;
}

const RESETS_OF_NOTE = 3;
