/** An attempt that is given up before its reboot, and nothing is counted: only for a reason of DESIGN sections 2 and 2b. */
import { hostOf } from './check-vm.ts';
import { at, textAt, type Write } from './violation.ts';

/** @returns why no reason that is known here holds; null when one does */
export function withdrawal(write: Write): string | null {
  const { id, after, stored, all } = write;
  const group = stored(`group#${textAt(after, 'group') ?? ''}`);
  const held = at(after, 'heldBy') !== null;
  const paused = at(group, 'pausedBy') !== null;
  if (held || paused || offerChanged(write) || all('vm').some(([, vm]) => hostOf(vm) === id && blocks(vm))) return null;
  return 'it is not held, its group is not paused, no VM blocks it, and the same version is offered';
}

/** What it was to become is no longer offered, or is blocked for it. */
function offerChanged({ before, after }: Write): boolean {
  const towards = textAt(before, 'attempt.version');
  const offered = textAt(after, 'status.updateCheck.version');
  const blocked = at(after, 'blockedVersions');
  return offered !== towards || (Array.isArray(blocked) && blocked.includes(towards));
}

const blocks = (vm: Write['after']): boolean => {
  const phase = textAt(vm, 'instance.phase');
  const live = phase !== null && phase !== 'Succeeded' && phase !== 'Failed';
  return live && textAt(vm, 'body.maintenance') === 'block' && at(vm, 'removed') === null;
};
