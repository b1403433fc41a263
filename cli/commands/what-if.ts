/**
 * `what-if FILE`: how a rollout of the present fleet would go with the policies of a file. The fleet is read, the control
 * plane itself runs on a virtual clock, and nothing is changed (DESIGN section 2b).
 */
import { InvalidArgumentError } from 'commander';
import { callOf } from '../../client/request.ts';
import type { GroupJson } from '../../core/contract/answers.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { days, type Duration, milliseconds, parseDuration } from '../../core/kit/time.ts';
import { readList } from '../answers.ts';
import type { Client } from '../client.ts';
import type { CommandModule, Tools } from '../command.ts';
import { type Declared, readDeclared } from '../declared/file.ts';
import { bodyOf } from '../declared/present.ts';
import { CliError, EXIT, type ExitCode } from '../errors.ts';

type Options = { for?: Duration; version?: string; attempt?: Duration; failing?: number; svg?: boolean; seed?: number };

const LONGEST = days(60);
/** So many entries of the log are looked at for how long attempts take. */
const LOG_MAX = 2_000;

function lengthArgument(text: string): Duration {
  const length = parseDuration(text);
  if (length === null || length <= 0 || length > LONGEST)
    throw new InvalidArgumentError('It must be a duration up to 60d: 12h, 7d.');
  return length;
}

function shareArgument(text: string): number {
  const found = /^(\d{1,2}(?:\.\d+)?|100)%?$/.exec(text);
  if (found === null) throw new InvalidArgumentError('It must be a percentage from 0% to 100%: 2%.');
  return Number(found[1]) / 100;
}

const HELP = `
FILE is what \`apply\` takes, YAML or JSON; of it only the groups count: { "groups": { "web": { "maxConcurrentUpdates": "10%" } } }.
Groups that it does not name keep the policy that they have. - reads it from standard input.

Examples:
  holdoff what-if policies.json                       the offers that there are, for 7 days
  holdoff what-if policies.json --version 1.22.0      as if 1.22.0 were offered to every node now
  holdoff what-if policies.json --attempt 12m --failing 5%
  holdoff what-if policies.json --svg > rollout.svg

How long an attempt takes and how many fail is learnt from the event log, unless it is given. VMs that keep a host from
its reboot and alarms are not looked at. A node that is unreachable does nothing, as it does now.`;

export const whatIfCommand: CommandModule = (program, accept) => {
  program
    .command('what-if')
    .description('how a rollout of the present fleet would go with the policies of a file; nothing is changed')
    .argument('<file>', 'the policies, as `apply` takes them; - reads them from standard input')
    .option('--for <duration>', 'how far to look (default: 7d)', lengthArgument)
    .option('--version <version>', 'suppose that this version is offered to every node')
    .option('--attempt <duration>', 'how long an attempt takes, the soak time left out', lengthArgument)
    .option('--failing <percentage>', 'how many attempts fail', shareArgument)
    .option('--seed <number>', 'another draw of which attempts fail', Number)
    .option('--svg', 'print a drawing of it instead')
    .addHelpText('after', HELP)
    .action((file: string, options: Options) =>
      accept({ name: 'what-if', options: { file, ...options }, run: (tools) => whatIf(tools, file, options) }),
    );
};

async function whatIf(tools: Tools, file: string, options: Options): Promise<ExitCode> {
  const { groups: given = {} } = await readDeclared([file], tools.io);
  const client = await tools.client();
  const { forecast, ForecastError } = await import('../../world/forecast/forecast.ts');
  const { forecastJson, forecastText } = await import('../../world/forecast/print.ts');
  const { forecastSvg } = await import('../../world/forecast/svg.ts');
  const { fleet, soak } = await readFleet(client, given, options.version ?? null);
  if (fleet.nodes.length === 0)
    throw new CliError('Usage', {
      what: 'there is nothing to forecast',
      why: 'no node of this control plane has reported yet',
      next: 'see `holdoff nodes`',
    });
  const pace = await readPace(client, soak, options);
  const start = tools.io.now();
  try {
    const found = await forecast({ fleet, pace, start, length: options.for ?? days(7), seed: options.seed ?? 1 });
    if (options.svg === true)
      tools.io.out(
        forecastSvg(
          found,
          `${fleet.nodes.length} nodes, from ${new Date(start).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
        ),
      );
    else if (tools.json) tools.io.out(`${JSON.stringify(forecastJson(found, pace), null, 2)}\n`);
    else tools.io.out(`${forecastText(found, pace)}\n`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ForecastError)) throw error;
    throw new CliError(
      'BadFile',
      { what: 'a policy would be refused', why: error.message, next: 'mend it, and ask again' },
      { cause: error },
    );
  }
}

type Bodies = NonNullable<Declared['groups']>;

async function readFleet(client: Client, given: Bodies, version: string | null) {
  const { nodeOf } = await import('../../world/forecast/fleet.ts');
  const nodes = await readList(client, 'node', (query) => callOf(ROUTES.listNodes, { query }));
  const groups = await readList(client, 'group', (query) => callOf(ROUTES.listGroups, { query }));
  const declared = groups.items.filter((group) => group.declared);
  return {
    fleet: {
      nodes: nodes.items.flatMap((node) => nodeOf(node, version) ?? []),
      groups: { ...Object.fromEntries(declared.map((group) => [group.group, bodyOf(group)])), ...given },
      paused: groups.items.filter(({ paused }) => paused).map(({ group }) => group),
    },
    soak: longestSoak(declared),
  };
}

const longestSoak = (groups: readonly GroupJson[]): Duration =>
  milliseconds(Math.max(0, ...groups.map(({ policy }) => parseDuration(policy.monitor.soak) ?? 0)));

async function readPace(client: Client, soak: Duration, { attempt, failing }: Options) {
  const { paceOf, SUPPOSED } = await import('../../world/forecast/pace.ts');
  const known = attempt !== undefined && failing !== undefined;
  const log = known
    ? null
    : await readList(client, 'event', (query) => callOf(ROUTES.listEvents, { query }), { limit: LOG_MAX });
  const learnt = log === null ? SUPPOSED : paceOf(log.items, soak);
  return { ...learnt, ...(attempt === undefined ? {} : { attempt }), ...(failing === undefined ? {} : { failing }) };
}
