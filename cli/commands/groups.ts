/** `holdoff groups …` */
import type { Command } from 'commander';
import { type ApiCall, callOf } from '../../client/request.ts';
import type { GroupJson } from '../../core/contract/answers.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { parseGroupId, type GroupId } from '../../core/kit/ids.ts';
import { readAnswer, readList } from '../answers.ts';
import { readBody } from '../body.ts';
import type { Answer } from '../client.ts';
import type { CommandModule, Invocation, Tools } from '../command.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { onMany } from '../many.ts';
import {
  addManyOptions,
  durationTextArgument,
  groupArgument,
  limitOption,
  type ManyOptions,
  oneOrMany,
  refuseArguments,
} from '../options.ts';
import { print } from '../output.ts';
import { acceptedLine, acceptedRow, changedGroup } from '../../present/accepted.ts';
import { GROUP_ROW, groupFields, groupRows, groupsByAttention, groupTable } from '../../present/groups.ts';
import { show } from '../show.ts';

type ListOptions = { readonly limit?: number };

const about = (id: GroupId): NonNullable<Invocation['subject']> => ({ noun: 'groups', id });

type PlainVerb = {
  readonly name: string;
  readonly verb: keyof GroupJson['can'];
  readonly says: string;
  readonly callFor: (group: string) => ApiCall;
};

/** The verbs that take nothing but the name of the group, or are on all of them. */
const PLAIN_VERBS: readonly PlainVerb[] = [
  {
    name: 'pause',
    verb: 'pause',
    says: 'start nothing new in a group, and keep its nodes from their disruptive steps',
    callFor: (group) => callOf(ROUTES.pauseGroup, { params: { group }, body: {} }),
  },
  {
    name: 'resume',
    verb: 'resume',
    says: 'end a pause',
    callFor: (group) => callOf(ROUTES.resumeGroup, { params: { group }, body: {} }),
  },
  {
    name: 'close-window',
    verb: 'closeWindow',
    says: 'end early a window that somebody opened',
    callFor: (group) => callOf(ROUTES.closeWindow, { params: { group }, body: {} }),
  },
];

const HELP = `
Examples:
  holdoff groups
  holdoff groups show canary
  echo '{ "maxConcurrentUpdates": "10%" }' | holdoff groups put canary --file -
  holdoff groups pause canary
  holdoff groups pause --all         every group: the list first, then a question (--yes: none)
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
  for (const verb of PLAIN_VERBS) addPlainVerb(groups, accept, verb);
  addRolloutVerbs(groups, accept);
};

function addPlainVerb(groups: Command, accept: Parameters<CommandModule>[1], plain: PlainVerb): void {
  const { name, says, callFor } = plain;
  const command = groups.command(name).description(says).argument('[group]', 'group name', groupArgument);
  addManyOptions(command, 'group').action((group: GroupId | undefined, options: ManyOptions) => {
    const all = options.all === true;
    if (oneOrMany(command, 'group', { id: group, all, filters: [] }) === 'many' || group === undefined) {
      const run = (tools: Tools): Promise<ExitCode> => onAllGroups(tools, plain, options.yes === true);
      return accept({ name: `groups ${name}`, many: true, options, run });
    }
    const run = (tools: Tools): Promise<ExitCode> => post(tools, name, callFor(group));
    accept({ name: `groups ${name}`, subject: about(group), options, run });
  });
}

async function onAllGroups(tools: Tools, { name, verb, callFor }: PlainVerb, yes: boolean): Promise<ExitCode> {
  const { items } = await readList(await tools.client(), 'group', (query) => callOf(ROUTES.listGroups, { query }));
  const targets = items.map(({ group, can }) => ({ id: group, refused: can?.[verb] ?? null }));
  const list = (): string => groupTable(items, tools.surface('cut'));
  return onMany(tools, { noun: 'groups', verb: name, targets, list, call: callFor }, yes);
}

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
