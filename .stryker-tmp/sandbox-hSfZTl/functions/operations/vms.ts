/** What happens to a VM: declarations, verbs, its host's reports, and the passing of time. */
// @ts-nocheck

import type { NodeId, VmId } from '../../core/ids.ts';
import { decideVm } from '../../core/vm/decide.ts';
import type { VmEvent } from '../../core/vm/event.ts';
import { hostLine } from '../../core/vm/describe.ts';
import type { HostVm } from '../../core/contract.ts';
import type { VmRecord } from '../../core/vm/record.ts';
import type { ControlPlane } from '../ports.ts';
import { turn, type Turned } from '../turn.ts';

export const turnVm = (plane: ControlPlane, vmId: VmId, event: VmEvent): Promise<Turned<VmRecord>> =>
  turn(plane, 'vm', vmId, (record) => decideVm(record, event, { vmId, now: plane.now(), draw: plane.draw() }));

/** What should run on a host: each VM's live instance, to run or to end. */
export async function vmsToRun(plane: ControlPlane, host: NodeId): Promise<HostVm[]> {
  const ids = await plane.store.vmsOfHost(host);
  const loaded = await Promise.all(ids.map((id) => plane.store.load('vm', id)));
  return loaded.flatMap((vm) => {
    if (vm === null || vm.record.body.hostId !== host) return [];
    const line = hostLine(vm.record);
    return line === null ? [] : [line];
  });
}
