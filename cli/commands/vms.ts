/** `holdoff vms …` */
import type { Command } from 'commander';
import { type ApiCall, callOf } from '../../client/request.ts';
import type { VmJson } from '../../core/contract/answers.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { parseVmId, type VmId } from '../../core/kit/ids.ts';
import { VM_ROW, vmFields, vmRows, vmsByAttention, vmTable } from '../../present/vms.ts';
import { readAnswer, type Listed, type PageCall } from '../answers.ts';
import { readBody } from '../body.ts';
import type { Answer } from '../client.ts';
import type { CommandModule, Invocation, Tools } from '../command.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { printEvents, type EventOptions } from '../event-log.ts';
import {
  addEventOptions,
  addManyOptions,
  durationTextArgument,
  limitOption,
  type ManyOptions,
  oneOrMany,
  refuseArguments,
  vmIdArgument,
  watchOption,
} from '../options.ts';
import { print } from '../output.ts';
import { printConsole } from '../console.ts';
import { acceptedLine, acceptedRow, changedVm } from '../../present/accepted.ts';
import { show } from '../show.ts';
import { addWaitOptions, waitFor, type WaitOptions } from '../wait.ts';
import { watch } from '../watch.ts';
import { addVmFilter, onManyVms, readVms, sayNoVm, type VmFilter } from './vm-filter.ts';

type ListOptions = VmFilter & { readonly limit?: number; readonly watch?: boolean };

const read = (vmId: VmId): ApiCall => callOf(ROUTES.getVm, { params: { vmId } });
const eventsOf =
  (vmId: VmId): PageCall =>
  () =>
    callOf(ROUTES.listVmEvents, { params: { vmId } });
const about = (id: VmId): NonNullable<Invocation['subject']> => ({ noun: 'vms', id });

type VerbOptions = VmFilter & ManyOptions & { readonly grace?: string; readonly force?: true };
type Verb = {
  readonly verb: keyof VmJson['can'];
  readonly says: string;
  readonly callFor: (vmId: string, options: VerbOptions) => ApiCall;
};

const graceBody = ({ grace }: VerbOptions): { gracePeriod?: string } =>
  grace === undefined ? {} : { gracePeriod: grace };

/** The verbs that can be on one VM, or on many. */
const VERBS: readonly Verb[] = [
  {
    verb: 'start',
    says: 'switch a VM on; during a back-off it is tried now',
    callFor: (vmId) => callOf(ROUTES.startVm, { params: { vmId }, body: {} }),
  },
  {
    verb: 'stop',
    says: 'switch a VM off; it stays off until somebody starts it',
    callFor: (vmId, options) => callOf(ROUTES.stopVm, { params: { vmId }, body: graceBody(options) }),
  },
  {
    verb: 'restart',
    says: 'end the instance of a VM and start another',
    callFor: (vmId, options) => callOf(ROUTES.restartVm, { params: { vmId }, body: graceBody(options) }),
  },
  {
    verb: 'delete',
    says: 'delete a VM; its record goes once its instance is known ended',
    callFor: (vmId, { force }) =>
      callOf(ROUTES.deleteVm, { params: { vmId }, query: force === true ? { force: 'true' } : {} }),
  },
];

const HELP = `
\`holdoff vms\` takes the options of list: --host NODE, --status S, --limit N, --watch.

Examples:
  holdoff vms                        all VMs, what needs attention first
  holdoff vms show web               every field, why it is there, its last events and console
  holdoff vms put web --file web.json
  holdoff vms stop web --grace 30s   off, and it stays off; its run strategy is kept
  holdoff vms stop --host i-0123456789abcdef0   many: the list first, then a question
  holdoff vms console web            what its guest says now
  holdoff vms start web              tries now, also during a back-off

A VM file:
  { "hostId": "i-0123456789abcdef0", "runStrategy": "Always",
    "launch": { "type": "libvirt", "domain": "web" } }

Columns in a pipe:
  ${VM_ROW}`;

/** Adds the commands about VMs. */
export const vmCommands: CommandModule = (program, accept) => {
  const vms = program.command('vms').summary('the VMs: list, show, put, start, stop, restart …');
  vms.description('The VMs of the fleet.').addHelpText('after', HELP);
  addVmFilter(vms.command('list', { isDefault: true }).description('list VMs (`holdoff vms` is the same)'))
    .addOption(limitOption())
    .addOption(watchOption())
    .allowExcessArguments()
    .action((options: ListOptions, command: Command) => {
      refuseArguments(command, 'vms', (text) => parseVmId(text) !== null);
      accept({ name: 'vms', options, run: (tools) => list(tools, options) });
    });
  vms
    .command('show')
    .description('every field of a VM, its explanation first, its last events and console')
    .argument('<id>', 'VM id', vmIdArgument)
    .action((id: VmId) => {
      accept({ name: 'vms show', subject: about(id), options: {}, run: (tools) => showVm(tools, id) });
    });
  addEventOptions(
    vms.command('events').description('the event log of a VM').argument('<id>', 'VM id', vmIdArgument),
  ).action((id: VmId, options: EventOptions) => {
    const run = (tools: Tools): Promise<ExitCode> => printEvents(tools, eventsOf(id), options);
    accept({ name: 'vms events', subject: about(id), options, run });
  });
  vms
    .command('put')
    .description('declare a VM, or change its declaration')
    .argument('<id>', 'VM id', vmIdArgument)
    .requiredOption('--file <file>', 'its declaration as JSON; - for standard input')
    .action((id: VmId, options: { file: string }) => {
      accept({ name: 'vms put', subject: about(id), options, run: (tools) => put(tools, id, options.file) });
    });
  for (const one of VERBS) addVerb(vms, accept, one);
  addWaitOptions(
    vms.command('wait').description('wait until a VM is as asked').argument('<id>', 'VM id', vmIdArgument),
  ).action((id: VmId, options: WaitOptions) => {
    const run = (tools: Tools): Promise<ExitCode> => waitFor(tools, id, read(id), options);
    accept({ name: 'vms wait', subject: about(id), options, run });
  });
  vms
    .command('console')
    .description("the last 16 KiB of a live guest's console: asks its host, and waits for what it sends")
    .argument('<id>', 'VM id', vmIdArgument)
    .action((id: VmId) => {
      accept({ name: 'vms console', subject: about(id), options: {}, run: (tools) => printConsole(tools, id) });
    });
};

/** One VM by its id, or those that pass a filter. */
function addVerb(vms: Command, accept: Parameters<CommandModule>[1], { verb: name, says, callFor }: Verb): void {
  const command = vms.command(name).description(says).argument('[id]', 'VM id', vmIdArgument);
  if (name === 'stop' || name === 'restart')
    command.option('--grace <duration>', 'how long its guest has to end by itself', durationTextArgument);
  if (name === 'delete')
    command.option(
      '--force',
      'do not wait for its end: an instance may still run when another is declared and started',
    );
  addManyOptions(addVmFilter(command), 'VM').action((id: VmId | undefined, options: VerbOptions) => {
    const filters = [options.host, options.status];
    if (oneOrMany(command, 'VM', { id, all: options.all === true, filters }) === 'many' || id === undefined) {
      const call = (vmId: string): ApiCall => callFor(vmId, options);
      const run = (tools: Tools): Promise<ExitCode> =>
        onManyVms(tools, options, { verb: name, call, yes: options.yes === true });
      return accept({ name: `vms ${name}`, many: true, options, run });
    }
    const run = (tools: Tools): Promise<ExitCode> => verb(tools, name, callFor(id, options));
    accept({ name: `vms ${name}`, subject: about(id), options, run });
  });
}

async function list(tools: Tools, options: ListOptions): Promise<ExitCode> {
  const ask = (): Promise<Listed<VmJson>> =>
    readVms(tools, options, options.limit === undefined ? {} : { limit: options.limit });
  const screen = (vms: readonly VmJson[], fit: 'cut' | 'wrap'): string =>
    vms.length === 0 ? sayNoVm(options) : vmTable(vmsByAttention(vms), tools.surface(fit));
  if (options.watch === true) return watch(tools, 'VMs', async () => screen((await ask()).items, 'cut'));
  const answer = await ask();
  print(tools, { json: answer, screen: () => screen(answer.items, 'wrap'), piped: () => vmRows(answer.items) });
  return EXIT.ok;
}

async function showVm(tools: Tools, id: VmId): Promise<ExitCode> {
  const { body } = await (await tools.client()).send(read(id));
  const vm = readAnswer('vm', body);
  return show(tools, {
    json: body,
    fields: (when) => vmFields(vm, when),
    console: vm.lastFailure?.console ?? null,
    events: eventsOf(id),
  });
}

async function put(tools: Tools, id: VmId, file: string): Promise<ExitCode> {
  // What the file says is the control plane's to judge: it answers with the path and the reason.
  const body = (await readBody(file, tools.io)) as VmBody;
  const answer = await (await tools.client()).send(callOf(ROUTES.putVm, { params: { vmId: id }, body }));
  return printChanged(tools, answer.status === 201 ? 'declared' : 'changed', answer);
}

async function verb(tools: Tools, name: string, call: ApiCall): Promise<ExitCode> {
  const answer = await (await tools.client()).send(call);
  return printChanged(tools, `${name} accepted`, answer);
}

function printChanged(tools: Tools, done: string, { body }: Answer): ExitCode {
  const changed = changedVm(readAnswer('vm', body));
  print(tools, {
    json: body,
    screen: () => acceptedLine(done, changed, tools.surface()),
    piped: () => acceptedRow(changed),
  });
  return EXIT.ok;
}
