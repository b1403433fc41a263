/** VMs, as an operator declares and moves them. */
import { emptyBodySchema, stopBodySchema, vmBodySchema } from '../../core/contract/operator-bodies.ts';
import type { Fact } from '../../core/decision/fact.ts';
import { formatInstant, parseDuration } from '../../core/kit/time.ts';
import { describeVm } from '../../core/vm/describe.ts';
import type { VmEvent } from '../../core/vm/event.ts';
import type { VmRecord } from '../../core/vm/record.ts';
import { parseNodeId } from '../../core/kit/ids.ts';
import { turnVm } from '../operations/vms.ts';
import type { ControlPlane } from '../ports.ts';
import { fail, ofRefusal } from './problem.ts';
import { type ApiRequest, bodyOf, encodeCursor, operatorOf, pageOf, vmIdOf } from './requests.ts';
import type { ApiAnswer, Serve } from './route.ts';

async function mustFind(plane: ControlPlane, request: ApiRequest): Promise<VmRecord> {
  const vmId = vmIdOf(request);
  const vm = (await plane.store.load('vm', vmId))?.record;
  if (vm === undefined || vm.removed !== null) throw fail(404, 'VmNotFound', `there is no VM ${vmId}`);
  return vm;
}

export const listVms: Serve = async (plane, request) => {
  operatorOf(request);
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

export const getVm: Serve = async (plane, request) => {
  operatorOf(request);
  return { status: 200, body: { ...describeVm(await mustFind(plane, request), plane.now()) } };
};

export const vmEvents: Serve = async (plane, request) => {
  operatorOf(request);
  const vm = await mustFind(plane, request);
  const items = vm.events
    .map((event) => ({ ...event, at: formatInstant(event.at), subject: `vm/${vm.vmId}` }))
    .reverse();
  return { status: 200, body: { items } };
};

export const putVm: Serve = async (plane, request) => {
  operatorOf(request);
  vmIdOf(request);
  const body = bodyOf(request, vmBodySchema, 'vm');
  const { vm, facts } = await decide(plane, request, { kind: 'put', body });
  // The decision itself says whether this call was the one that declared the VM, however many raced.
  const created = facts.some((fact) => fact.kind === 'event' && fact.type === 'VM Declared');
  return { status: created ? 201 : 200, body: { ...describeVm(vm, plane.now()) } };
};

async function decide(
  plane: ControlPlane,
  request: ApiRequest,
  event: VmEvent,
): Promise<{ vm: VmRecord; facts: readonly Fact[] }> {
  const vmId = vmIdOf(request);
  const result = await turnVm(plane, vmId, event);
  if (result.kind === 'refused') throw ofRefusal(result.refusal);
  if (result.record === null) throw fail(404, 'VmNotFound', `there is no VM ${vmId}`);
  return { vm: result.record, facts: result.kind === 'changed' ? result.facts : [] };
}

async function verb(plane: ControlPlane, request: ApiRequest, event: VmEvent): Promise<ApiAnswer> {
  const { vm } = await decide(plane, request, event);
  return { status: 202, body: { ...describeVm(vm, plane.now()) } };
}

const plainVerb =
  (event: VmEvent): Serve =>
  async (plane, request) => {
    operatorOf(request);
    vmIdOf(request);
    bodyOf(request, emptyBodySchema);
    return verb(plane, request, event);
  };

export const startVm = plainVerb({ kind: 'start' });
export const restartVm = plainVerb({ kind: 'restart' });

export const stopVm: Serve = async (plane, request) => {
  operatorOf(request);
  vmIdOf(request);
  const { gracePeriod } = bodyOf(request, stopBodySchema);
  return verb(plane, request, { kind: 'stop', grace: gracePeriod === undefined ? null : parseDuration(gracePeriod) });
};

export const deleteVm: Serve = async (plane, request) => {
  operatorOf(request);
  const text = request.query.get('force');
  if (text !== null && !['', 'true', 'false'].includes(text)) throw fail(400, 'InvalidQuery', 'force is true or false');
  return verb(plane, request, { kind: 'delete', force: text === '' || text === 'true' });
};
