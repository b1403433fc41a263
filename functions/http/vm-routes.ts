/** VMs, as an operator declares and moves them. */
import type { Fact } from '../../core/decision/fact.ts';
import { formatDuration, formatInstant, parseDuration } from '../../core/kit/time.ts';
import { describeVm } from '../../core/vm/describe.ts';
import type { VmEvent } from '../../core/vm/event.ts';
import { CONSOLE_KEPT, consoleGoneAt } from '../../core/vm/console.ts';
import type { ConsoleAsked, VmRecord } from '../../core/vm/record.ts';
import type { ConsoleAnswer, VmJson } from '../../core/contract/answers.ts';
import { parseNodeId, type VmId } from '../../core/kit/ids.ts';
import { turnVm } from '../operations/vms.ts';
import type { ControlPlane } from '../ports.ts';
import { loadMany } from '../unreadable.ts';
import { fail, ofRefusal } from './problem.ts';
import type { Serve } from './handler.ts';
import { encodeCursor, pageOf, sayUnreadable } from './pages.ts';

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
  const { records, unreadable } = await loadMany(plane, 'vm', page.items);
  const now = plane.now();
  const items = records.flatMap((vm) => (vm.removed !== null ? [] : [describeVm(vm, now)]));
  return { status: 200, body: { items, ...sayUnreadable(unreadable), ...encodeCursor(page.cursor, 'vms') } };
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
  const warnings = warningsOf(vm);
  const shown = describeVm(vm, plane.now());
  return { status: created ? 201 : 200, body: { ...shown, ...(warnings.length === 0 ? {} : { warnings }) } };
};

/** What works as declared, and has a side that a person should know of beforehand. */
function warningsOf({ vmId, body: { lease } }: VmRecord): string[] {
  if (lease === undefined) return [];
  return [
    `VM ${vmId} has a lease of ${lease}: its host stops it when the control plane cannot be reached for longer than that. An outage of the control plane longer than the lease stops every VM that has one.`,
  ];
}

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

export const startVm: Serve<'startVm'> = (plane, { params }) => verb(plane, params.vmId, { kind: 'start' });

/** The grace that a person gives instead of the VM's own; null: none was given. */
const graceOf = ({ gracePeriod }: { gracePeriod?: string | undefined }) =>
  gracePeriod === undefined ? null : parseDuration(gracePeriod);

export const restartVm: Serve<'restartVm'> = (plane, { params, body }) =>
  verb(plane, params.vmId, { kind: 'restart', grace: graceOf(body) });

const sayConsole = (vm: VmRecord, { askedAt, by, received }: ConsoleAsked): Omit<ConsoleAnswer, 'api'> => ({
  vmId: vm.vmId,
  askedAt: formatInstant(askedAt),
  askedBy: by,
  receivedAt: received === null ? null : formatInstant(received.at),
  instanceId: received?.instanceId ?? null,
  console: received?.text ?? null,
});

export const askConsole: Serve<'askConsole'> = async (plane, { params, caller }) => {
  const { vm } = await decide(plane, params.vmId, { kind: 'askConsole', by: caller });
  if (vm.console == null) throw fail(404, 'ConsoleNotAsked', `nobody has asked for the console of VM ${vm.vmId}`);
  return { status: 202, body: sayConsole(vm, vm.console) };
};

export const getConsole: Serve<'getConsole'> = async (plane, { params }) => {
  const vm = await mustFind(plane, params.vmId);
  const goneAt = consoleGoneAt(vm);
  if (vm.console == null || goneAt === null || plane.now() >= goneAt) {
    throw fail(
      404,
      'ConsoleNotAsked',
      `nobody has asked for the console of VM ${vm.vmId} within the last ${formatDuration(CONSOLE_KEPT)}; POST …/console asks its host for it`,
    );
  }
  return { status: 200, body: sayConsole(vm, vm.console) };
};

export const stopVm: Serve<'stopVm'> = async (plane, request) => {
  return verb(plane, request.params.vmId, { kind: 'stop', grace: graceOf(request.body) });
};

export const deleteVm: Serve<'deleteVm'> = async (plane, request) => {
  const text = request.query.get('force');
  if (text !== null && !['', 'true', 'false'].includes(text)) throw fail(400, 'InvalidQuery', 'force is true or false');
  return verb(plane, request.params.vmId, { kind: 'delete', force: text === '' || text === 'true' });
};
