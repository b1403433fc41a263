/** A timer fired, or the sweep found something overdue: both come here, and the table decides (DESIGN section 4). */
import type { VmId } from '../../core/kit/ids.ts';
import { between, type Instant } from '../../core/kit/time.ts';
import { hostOf } from '../../core/vm/record.ts';
import { alarmOf } from '../effects.ts';
import type { ControlPlane, Ref } from '../ports.ts';
import { lookAtGroup } from './filler.ts';
import { turnNode } from './nodes.ts';
import { turnVm } from './vms.ts';

export async function handleDue(plane: ControlPlane, ref: Ref): Promise<void> {
  switch (ref.kind) {
    case 'node':
      await turnNode(plane, ref.id, { kind: 'due' });
      return;
    case 'vm':
      await handleDueVm(plane, ref.id);
      return;
    case 'group':
      await lookAtGroup(plane, ref.id);
      return;
  }
}

/** After a restore a VM waits to be told that its host was heard; in case it was not told, the host's record says so. */
async function handleDueVm(plane: ControlPlane, vmId: VmId): Promise<void> {
  const { record: vm } = await turnVm(plane, vmId, { kind: 'due' });
  if (vm?.awaitingHost == null || vm.awaitingHost.heardAt !== null) return;
  const hostId = hostOf(vm);
  const host = (await plane.store.load('node', hostId))?.record;
  if (host?.restored != null && host.restored.heardAt !== null && host.restored.heardAt >= vm.awaitingHost.since)
    await turnVm(plane, vmId, { kind: 'hostReported', hostId });
}

/**
 * A firing for the instant `at`. One that is early is armed again for the remainder; a stale or repeated one changes
 * nothing, because the aggregate no longer waits for that instant.
 */
export async function handleFiring(plane: ControlPlane, ref: Ref, at: Instant): Promise<void> {
  const loaded = await plane.store.load(ref.kind, ref.id);
  if (loaded === null) return;
  const alarm = alarmOf(loaded.record);
  const now = plane.now();
  if (alarm === null || alarm.at !== at) return;
  if (now < at) {
    await plane.timers.arm(ref, loaded.record.revision, at, alarm.retry, now);
    return;
  }
  plane.telemetry.metric('TimerLatenessMs', between(at, now), null);
  await handleDue(plane, ref);
}
