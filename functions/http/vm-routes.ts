/** VMs, as an operator declares and moves them. */
import type { Fact } from '../../core/decision/fact.ts';
import { formatInstant, parseDuration } from '../../core/kit/time.ts';
import { describeVm } from '../../core/vm/describe.ts';
import type { VmEvent } from '../../core/vm/event.ts';
import type { VmRecord } from '../../core/vm/record.ts';
import type { VmJson } from '../../core/contract/answers.ts';
import { parseNodeId, type VmId } from '../../core/kit/ids.ts';
import { turnVm } from '../operations/vms.ts';
import type { ControlPlane } from '../ports.ts';
import { fail, ofRefusal } from './problem.ts';
import type { Serve } from './handler.ts';
import { encodeCursor, pageOf } from './pages.ts';

async function mustFind(plane: ControlPlane, vmId: VmId): Promise<VmRecord> {
  const vm = (await plane.store.load('vm', vmId))?.record;
  if (vm === undefined || vm.removed !== null) throw fail(404, 'VmNotFound', `there is no VM ${vmId}`);
  return vm;
}

export const listVms: Serve<'listVms'> = async (plane, request) => {
  const { limit, cursor } = pageOf(request, 'vms');
  const host = request.query.get('host');
  const hostId = host === null ? null : parseNodeId(host);
  if (host !== null && hostId === null) throw fail(400, 'InvalidId', 'the host of the query is not a node id');
  const page =
    hostId === null
      ? await plane.store.list('vm', limit, cursor)
      : { items: await plane.store.vmsOfHost(hostId), cursor: null };
  const loaded = await Promise.all(page.items.map((id) => plane.store.load('vm', id)));
  const now = plane.now();
  const items = loaded.flatMap((vm) => (vm === null || vm.record.removed !== null ? [] : [describeVm(vm.record, now)]));
  return { status: 200, body: { items, ...encodeCursor(page.cursor, 'vms') } };
};

export const getVm: Serve<'getVm'> = async (plane, request) => {
  return { status: 200, body: describeVm(await mustFind(plane, request.params.vmId), plane.now()) };
};

export const vmEvents: Serve<'listVmEvents'> = async (plane, request) => {
  const vm = await mustFind(plane, request.params.vmId);
  const items = vm.events
    .map((event) => ({ ...event, at: formatInstant(event.at), subject: `vm/${vm.vmId}` }))
    .reverse();
  return { status: 200, body: { items } };
};

export const putVm: Serve<'putVm'> = async (plane, request) => {
  const body = request.body;
  const { vm, facts } = await decide(plane, request.params.vmId, { kind: 'put', body });
  // The decision itself says whether this call was the one that declared the VM, however many raced.
  const created = facts.some((fact) => fact.kind === 'event' && fact.type === 'VM Declared');
  return { status: created ? 201 : 200, body: describeVm(vm, plane.now()) };
};

async function decide(
  plane: ControlPlane,
  vmId: VmId,
  event: VmEvent,
): Promise<{ vm: VmRecord; facts: readonly Fact[] }> {
  const result = await turnVm(plane, vmId, event);
  if (result.kind === 'refused') throw ofRefusal(result.refusal);
  if (result.record === null) throw fail(404, 'VmNotFound', `there is no VM ${vmId}`);
  return { vm: result.record, facts: result.kind === 'changed' ? result.facts : [] };
}

async function verb(plane: ControlPlane, vmId: VmId, event: VmEvent): Promise<{ status: 202; body: VmJson }> {
  const { vm } = await decide(plane, vmId, event);
  return { status: 202, body: describeVm(vm, plane.now()) };
}

const plainVerb =
  (event: VmEvent): Serve<'startVm' | 'restartVm'> =>
  (plane, { params }) =>
    verb(plane, params.vmId, event);

export const startVm = plainVerb({ kind: 'start' });
export const restartVm = plainVerb({ kind: 'restart' });

export const stopVm: Serve<'stopVm'> = async (plane, request) => {
  const { gracePeriod } = request.body;
  return verb(plane, request.params.vmId, {
    kind: 'stop',
    grace: gracePeriod === undefined ? null : parseDuration(gracePeriod),
  });
};

export const deleteVm: Serve<'deleteVm'> = async (plane, request) => {
  const text = request.query.get('force');
  if (text !== null && !['', 'true', 'false'].includes(text)) throw fail(400, 'InvalidQuery', 'force is true or false');
  return verb(plane, request.params.vmId, { kind: 'delete', force: text === '' || text === 'true' });
};
