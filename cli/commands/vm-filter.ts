/** Which VMs: the filters of the list, and of the verbs on many. */
import { type Command, Option } from 'commander';
import { type ApiCall, callOf } from '../../client/request.ts';
import type { VmJson } from '../../core/contract/answers.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { PRINTABLE_STATUSES, type PrintableStatus } from '../../core/contract/words.ts';
import type { NodeId } from '../../core/kit/ids.ts';
import { vmsByAttention, vmTable } from '../../present/vms.ts';
import { type Listed, readList } from '../answers.ts';
import type { Tools } from '../command.ts';
import type { ExitCode } from '../errors.ts';
import { onMany } from '../many.ts';
import { nodeIdArgument } from '../options.ts';

export type VmFilter = { readonly host?: NodeId; readonly status?: PrintableStatus };

export const addVmFilter = (command: Command): Command =>
  command
    .option('--host <node>', 'only VMs of this host', nodeIdArgument)
    .addOption(new Option('--status <status>', 'only VMs in this status').choices(PRINTABLE_STATUSES));

/** The control plane finds those of a host by itself; the status is judged here. */
export const readVms = async (
  tools: Tools,
  { host, status }: VmFilter,
  limit: { readonly limit?: number } = {},
): Promise<Listed<VmJson>> =>
  readList(
    await tools.client(),
    'vm',
    (query) => callOf(ROUTES.listVms, { query: { ...query, ...(host === undefined ? {} : { host }) } }),
    { ...limit, keep: (vm) => status === undefined || vm.printableStatus === status },
  );

/** What the screen says when no VM passes. */
export const sayNoVm = ({ host, status }: VmFilter): string =>
  host === undefined && status === undefined
    ? 'No VMs yet. `holdoff vms put ID --file FILE` declares one.'
    : 'No VM is like that. `holdoff vms` lists them all.';

/** Asks for the list, and puts the verb to each VM that passes. */
export async function onManyVms(
  tools: Tools,
  filter: VmFilter,
  given: { verb: keyof VmJson['can']; call: (vmId: string) => ApiCall; yes: boolean },
): Promise<ExitCode> {
  const vms = vmsByAttention((await readVms(tools, filter)).items);
  const targets = vms.map(({ vmId, can }) => ({ id: vmId, refused: can?.[given.verb] ?? null }));
  const list = (): string => vmTable(vms, tools.surface('cut'));
  return onMany(tools, { noun: 'vms', verb: given.verb, targets, list, call: given.call }, given.yes);
}
