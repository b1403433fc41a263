/** `holdoff groups …` */
import type { Command } from 'commander';
import { type ApiCall, callOf } from '../../client/request.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { parseGroupId, type GroupId } from '../../core/kit/ids.ts';
import { readAnswer, readList } from '../answers.ts';
import { readBody } from '../body.ts';
import type { Answer } from '../client.ts';
import type { CommandModule, Invocation, Tools } from '../command.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { durationTextArgument, groupArgument, limitOption, refuseArguments } from '../options.ts';
import { print } from '../output.ts';
import { acceptedLine, acceptedRow, changedGroup } from '../../present/accepted.ts';
import { GROUP_ROW, groupFields, groupRows, groupsByAttention, groupTable } from '../../present/groups.ts';
import { show } from '../show.ts';

type ListOptions = { readonly limit?: number };

const about = (id: GroupId): NonNullable<Invocation['subject']> => ({ noun: 'groups', id });

/** The verbs that take nothing but the name of the group. */
const PLAIN_VERBS = {
  pause: {
    route: ROUTES.pauseGroup,
    says: 'start nothing new in a group, and keep its nodes from their disruptive steps',
  },
  resume: { route: ROUTES.resumeGroup, says: 'end a pause' },
  'close-window': { route: ROUTES.closeWindow, says: 'end early a window that somebody opened' },
} as const;

const HELP = `
Examples:
  holdoff groups
  holdoff groups show canary
  echo '{ "maxConcurrentUpdates": "10%" }' | holdoff groups put canary --file -
  holdoff groups pause canary
  holdoff groups open-window canary --for 1h
  holdoff groups close-breaker canary
  holdoff groups expedite canary --version 1.21.1 --for 24h   with open-window: an urgent patch

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
  for (const [verb, { route, says }] of Object.entries(PLAIN_VERBS)) {
    groups
      .command(verb)
      .description(says)
      .argument('<group>', 'group name', groupArgument)
      .action((group: GroupId) => {
        const run = (tools: Tools): Promise<ExitCode> =>
          post(tools, verb, callOf(route, { params: { group }, body: {} }));
        accept({ name: `groups ${verb}`, subject: about(group), options: {}, run });
      });
  }
  addRolloutVerbs(groups, accept);
};

/** Verbs that let something begin which the policy keeps; their answers say what still stands. */
function addRolloutVerbs(groups: Command, accept: Parameters<CommandModule>[1]): void {
  groups
    .command('close-breaker')
    .description('forget the crashes that opened a breaker, so that its version is tried again')
    .argument('<group>', 'group name', groupArgument)
    .option('--version <version>', 'only the breaker of this version; all without it')
    .action((group: GroupId, options: { version?: string }) => {
      const body = options.version === undefined ? {} : { version: options.version };
      const run = (tools: Tools): Promise<ExitCode> =>
        post(tools, 'close-breaker', callOf(ROUTES.closeBreaker, { params: { group }, body }));
      accept({ name: 'groups close-breaker', subject: about(group), options, run });
    });
  groups
    .command('open-window')
    .description('let the group begin now, whatever its windows say; a freeze refuses it')
    .argument('<group>', 'group name', groupArgument)
    .requiredOption('--for <duration>', 'how long: 10m to 7d', durationTextArgument)
    .action((group: GroupId, options: { for: string }) => {
      const run = (tools: Tools): Promise<ExitCode> =>
        post(tools, 'open-window', callOf(ROUTES.openWindow, { params: { group }, body: { for: options.for } }));
      accept({ name: 'groups open-window', subject: about(group), options, run });
    });
  groups
    .command('expedite')
    .description('let one version past its age and the groups that come first')
    .argument('<group>', 'group name', groupArgument)
    .requiredOption('--version <version>', 'the version')
    .requiredOption('--for <duration>', 'how long: 10m to 7d', durationTextArgument)
    .action((group: GroupId, options: { version: string; for: string }) => {
      const body = { version: options.version, for: options.for };
      const run = (tools: Tools): Promise<ExitCode> =>
        post(tools, 'expedite', callOf(ROUTES.expedite, { params: { group }, body }));
      accept({ name: 'groups expedite', subject: about(group), options, run });
    });
}

async function list(tools: Tools, options: ListOptions): Promise<ExitCode> {
  const limit = options.limit === undefined ? {} : { limit: options.limit };
  const answer = await readList(await tools.client(), 'group', (query) => callOf(ROUTES.listGroups, { query }), limit);
  print(tools, {
    json: answer,
    screen: () =>
      answer.items.length === 0 ? 'No groups yet.' : groupTable(groupsByAttention(answer.items), tools.surface()),
    piped: () => groupRows(answer.items),
  });
  return EXIT.ok;
}

async function showGroup(tools: Tools, group: GroupId): Promise<ExitCode> {
  const { body } = await (await tools.client()).send(callOf(ROUTES.getGroup, { params: { group } }));
  const answer = readAnswer('group', body);
  return show(tools, { json: body, fields: (when) => groupFields(answer, when) });
}

async function put(tools: Tools, group: GroupId, file: string): Promise<ExitCode> {
  // What the file says is the control plane's to judge: it answers with the path and the reason.
  const body = (await readBody(file, tools.io)) as GroupBody;
  const answer = await (await tools.client()).send(callOf(ROUTES.putGroup, { params: { group }, body }));
  return printChanged(tools, answer.status === 201 ? 'declared' : 'changed', answer);
}

async function post(tools: Tools, verb: string, call: ApiCall): Promise<ExitCode> {
  const answer = await (await tools.client()).send(call);
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
  const { body } = await (await tools.client()).send(callOf(ROUTES.deleteGroup, { params: { group } }));
  print(tools, {
    json: body,
    screen: () => `delete accepted: ${group} has no policy of its own any more.`,
    piped: () => `${group}\tdeleted`,
  });
  return EXIT.ok;
}
