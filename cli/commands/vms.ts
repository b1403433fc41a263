/** `holdoff vms …` */
import type { Command } from 'commander';
import type { VmJson } from '../../core/contract/answers.ts';
import { parseVmId, type VmId } from '../../core/kit/ids.ts';
import { VM_ROW, vmFields, vmRows, vmsByAttention, vmTable } from '../../present/vms.ts';
import { readAnswer, readList, type Listed } from '../answers.ts';
import { readBody } from '../body.ts';
import type { Answer, Method } from '../client.ts';
import type { CommandModule, Invocation, Tools } from '../command.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { printEvents, type EventOptions } from '../event-log.ts';
import {
  addEventOptions,
  durationTextArgument,
  limitOption,
  refuseArguments,
  vmIdArgument,
  watchOption,
} from '../options.ts';
import { print } from '../output.ts';
import { acceptedLine, acceptedRow, changedVm } from '../render/accepted.ts';
import { show } from '../show.ts';
import { addWaitOptions, waitFor, type WaitOptions } from '../wait.ts';
import { watch } from '../watch.ts';

type ListOptions = { readonly limit?: number; readonly watch?: boolean };

const vmPath = (id: VmId): string => `/v1/vms/${encodeURIComponent(id)}`;
const about = (id: VmId): NonNullable<Invocation['subject']> => ({ noun: 'vms', id });

const HELP = `
\`holdoff vms\` takes the options of list: --limit N, --watch.

Examples:
  holdoff vms                        all VMs, what needs attention first
  holdoff vms show web               every field, why it is there, its last events and console
  holdoff vms put web --file web.json
  holdoff vms stop web --grace 30s   off, and it stays off; its run strategy is kept
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
  vms
    .command('list', { isDefault: true })
    .description('list VMs (`holdoff vms` is the same)')
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
    const run = (tools: Tools): Promise<ExitCode> => printEvents(tools, `${vmPath(id)}/events`, options);
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
  vms
    .command('stop')
    .description('switch a VM off; it stays off until somebody starts it')
    .argument('<id>', 'VM id', vmIdArgument)
    .option('--grace <duration>', 'how long its guest has to end by itself', durationTextArgument)
    .action((id: VmId, options: { grace?: string }) => {
      const body = options.grace === undefined ? {} : { gracePeriod: options.grace };
      const run = (tools: Tools): Promise<ExitCode> => verb(tools, 'stop', id, 'POST', '/stop', { body });
      accept({ name: 'vms stop', subject: about(id), options, run });
    });
  addWaitOptions(
    vms.command('wait').description('wait until a VM is as asked').argument('<id>', 'VM id', vmIdArgument),
  ).action((id: VmId, options: WaitOptions) => {
    const run = (tools: Tools): Promise<ExitCode> => waitFor(tools, id, vmPath(id), options);
    accept({ name: 'vms wait', subject: about(id), options, run });
  });
  for (const [name, description] of [
    ['start', 'switch a VM on; during a back-off it is tried now'],
    ['restart', 'end the instance of a VM and start another'],
  ] as const) {
    vms
      .command(name)
      .description(description)
      .argument('<id>', 'VM id', vmIdArgument)
      .action((id: VmId) => {
        const run = (tools: Tools): Promise<ExitCode> => verb(tools, name, id, 'POST', `/${name}`, { body: {} });
        accept({ name: `vms ${name}`, subject: about(id), options: {}, run });
      });
  }
  vms
    .command('delete')
    .description('delete a VM; its record goes once its instance is known ended')
    .argument('<id>', 'VM id', vmIdArgument)
    .option('--force', 'do not wait for its end: an instance may still run when another is declared and started')
    .action((id: VmId, options: { force?: boolean }) => {
      const extra = options.force === true ? { query: { force: 'true' } } : {};
      const run = (tools: Tools): Promise<ExitCode> => verb(tools, 'delete', id, 'DELETE', '', extra);
      accept({ name: 'vms delete', subject: about(id), options, run });
    });
};

async function list(tools: Tools, options: ListOptions): Promise<ExitCode> {
  const client = await tools.client();
  const read = (): Promise<Listed<VmJson>> =>
    readList(client, 'vm', '/v1/vms', options.limit === undefined ? {} : { limit: options.limit });
  const screen = (vms: readonly VmJson[], fit: 'cut' | 'wrap'): string =>
    vms.length === 0
      ? 'No VMs yet. `holdoff vms put ID --file FILE` declares one.'
      : vmTable(vmsByAttention(vms), tools.surface(fit));
  if (options.watch === true) return watch(tools, 'VMs', async () => screen((await read()).items, 'cut'));
  const answer = await read();
  print(tools, { json: answer, screen: () => screen(answer.items, 'wrap'), piped: () => vmRows(answer.items) });
  return EXIT.ok;
}

async function showVm(tools: Tools, id: VmId): Promise<ExitCode> {
  const { body } = await (await tools.client()).send('GET', vmPath(id));
  const vm = readAnswer('vm', body);
  return show(tools, {
    json: body,
    fields: (when) => vmFields(vm, when),
    console: vm.lastFailure?.console ?? null,
    eventsPath: `${vmPath(id)}/events`,
  });
}

async function put(tools: Tools, id: VmId, file: string): Promise<ExitCode> {
  const body = await readBody(file, tools.io);
  const answer = await (await tools.client()).send('PUT', vmPath(id), { body });
  return printChanged(tools, answer.status === 201 ? 'declared' : 'changed', answer);
}

async function verb(
  tools: Tools,
  name: string,
  id: VmId,
  method: Method,
  suffix: string,
  extra: { query?: Record<string, string>; body?: unknown },
): Promise<ExitCode> {
  const answer = await (await tools.client()).send(method, vmPath(id) + suffix, extra);
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
