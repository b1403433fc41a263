/** `holdoff groups …` */
import type { Command } from 'commander';
import { parseGroupId, type GroupId } from '../../core/kit/ids.ts';
import { readAnswer, readList } from '../answers.ts';
import { readBody } from '../body.ts';
import type { Answer } from '../client.ts';
import type { CommandModule, Invocation, Tools } from '../command.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { groupArgument, limitOption, refuseArguments } from '../options.ts';
import { print } from '../output.ts';
import { acceptedLine, acceptedRow, changedGroup } from '../render/accepted.ts';
import { GROUP_ROW, groupFields, groupRows, groupTable } from '../render/groups.ts';
import { show } from '../show.ts';

type ListOptions = { readonly limit?: number };

const groupPath = (group: GroupId): string => `/v1/groups/${encodeURIComponent(group)}`;
const about = (id: GroupId): NonNullable<Invocation['subject']> => ({ noun: 'groups', id });

const HELP = `
Examples:
  holdoff groups
  holdoff groups show canary
  echo '{ "maxConcurrentUpdates": "10%" }' | holdoff groups put canary --file -
  holdoff groups pause canary

Columns in a pipe:
  ${GROUP_ROW}`;

/** Adds the commands about groups. */
export const groupCommands: CommandModule = (program, accept) => {
  const groups = program.command('groups').summary('the groups and their policies: list, show, put, pause …');
  groups.description('The groups of nodes, and the policy of each.').addHelpText('after', HELP);
  groups
    .command('list', { isDefault: true })
    .description('list groups (`holdoff groups` is the same)')
    .addOption(limitOption())
    .allowExcessArguments()
    .action((options: ListOptions, command: Command) => {
      refuseArguments(command, 'groups', (text) => parseGroupId(text) !== null);
      accept({ name: 'groups', options, run: (tools) => list(tools, options) });
    });
  groups
    .command('show')
    .description('the policy of a group, and which of its nodes are under way')
    .argument('<group>', 'group name', groupArgument)
    .action((group: GroupId) => {
      accept({ name: 'groups show', subject: about(group), options: {}, run: (tools) => showGroup(tools, group) });
    });
  groups
    .command('put')
    .description('declare a group, or replace its policy')
    .argument('<group>', 'group name', groupArgument)
    .requiredOption('--file <file>', 'its policy as JSON; - for standard input')
    .action((group: GroupId, options: { file: string }) => {
      accept({ name: 'groups put', subject: about(group), options, run: (tools) => put(tools, group, options.file) });
    });
  groups
    .command('delete')
    .description("delete a group's policy; nodes that still name it get the policy of default")
    .argument('<group>', 'group name', groupArgument)
    .action((group: GroupId) => {
      accept({ name: 'groups delete', subject: about(group), options: {}, run: (tools) => deleteGroup(tools, group) });
    });
  for (const [verb, description] of [
    ['pause', 'start nothing new in a group, and keep its nodes from their disruptive steps'],
    ['resume', 'end a pause'],
  ] as const) {
    groups
      .command(verb)
      .description(description)
      .argument('<group>', 'group name', groupArgument)
      .action((group: GroupId) => {
        const run = (tools: Tools): Promise<ExitCode> => post(tools, verb, group);
        accept({ name: `groups ${verb}`, subject: about(group), options: {}, run });
      });
  }
};

async function list(tools: Tools, options: ListOptions): Promise<ExitCode> {
  const limit = options.limit === undefined ? {} : { limit: options.limit };
  const answer = await readList(await tools.client(), 'group', '/v1/groups', limit);
  print(tools, {
    json: answer,
    screen: () => (answer.items.length === 0 ? 'No groups yet.' : groupTable(answer.items, tools.surface())),
    piped: () => groupRows(answer.items),
  });
  return EXIT.ok;
}

async function showGroup(tools: Tools, group: GroupId): Promise<ExitCode> {
  const { body } = await (await tools.client()).send('GET', groupPath(group));
  const answer = readAnswer('group', body);
  return show(tools, { json: body, fields: () => groupFields(answer) });
}

async function put(tools: Tools, group: GroupId, file: string): Promise<ExitCode> {
  const body = await readBody(file, tools.io);
  const answer = await (await tools.client()).send('PUT', groupPath(group), { body });
  return printChanged(tools, answer.status === 201 ? 'declared' : 'changed', answer);
}

async function post(tools: Tools, verb: string, group: GroupId): Promise<ExitCode> {
  const answer = await (await tools.client()).send('POST', `${groupPath(group)}/${verb}`, { body: {} });
  return printChanged(tools, `${verb} accepted`, answer);
}

function printChanged(tools: Tools, done: string, { body }: Answer): ExitCode {
  const changed = changedGroup(readAnswer('group', body));
  print(tools, {
    json: body,
    screen: () => acceptedLine(done, changed, tools.surface()),
    piped: () => acceptedRow(changed),
  });
  return EXIT.ok;
}

async function deleteGroup(tools: Tools, group: GroupId): Promise<ExitCode> {
  const { body } = await (await tools.client()).send('DELETE', groupPath(group));
  print(tools, {
    json: body,
    screen: () => `delete accepted: ${group} has no policy of its own any more.`,
    piped: () => `${group}\tdeleted`,
  });
  return EXIT.ok;
}
