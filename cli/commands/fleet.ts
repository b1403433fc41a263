/** Commands about the whole fleet: `events`, `summary`, `openapi`. */
import { callOf } from '../../client/request.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { EVENT_ROW } from '../../present/events.ts';
import { readAnswer } from '../answers.ts';
import type { CommandModule, Tools } from '../command.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { printEvents, type EventOptions } from '../event-log.ts';
import { addEventOptions } from '../options.ts';
import { print } from '../output.ts';
import { summaryPage, summaryRows } from '../../present/summary.ts';

const EVENTS_HELP = `
Examples:
  holdoff events                   the newest 100, oldest first
  holdoff events --follow          and what is added, until Ctrl-C
  holdoff events --follow --json   one JSON object a line

Columns in a pipe:
  ${EVENT_ROW}`;

const SUMMARY_HELP = `
Rows in a pipe:
  attention kind id why
  nodes phase count
  vms status count`;

/** Adds the commands about the whole fleet. */
export const fleetCommands: CommandModule = (program, accept) => {
  addEventOptions(program.command('events').description('the event log of the fleet, kept for 30 days'))
    .addHelpText('after', EVENTS_HELP)
    .action((options: EventOptions) => {
      accept({
        name: 'events',
        options,
        run: (tools) => printEvents(tools, (query) => callOf(ROUTES.listEvents, { query }), options),
      });
    });
  program
    .command('summary')
    .description('what needs attention, and how many nodes and VMs are in which state')
    .addHelpText('after', SUMMARY_HELP)
    .action(() => accept({ name: 'summary', options: {}, run: summary }));
  program
    .command('openapi')
    .description('the OpenAPI 3.1 document of the API, as JSON')
    .action(() => accept({ name: 'openapi', options: {}, run: openapi }));
};

async function summary(tools: Tools): Promise<ExitCode> {
  const { body } = await (await tools.client()).send(callOf(ROUTES.getSummary, {}));
  const answer = readAnswer('summary', body);
  print(tools, { json: body, screen: () => summaryPage(answer, tools.surface()), piped: () => summaryRows(answer) });
  return EXIT.ok;
}

async function openapi(tools: Tools): Promise<ExitCode> {
  const { body } = await (await tools.client()).send(callOf(ROUTES.getOpenapi, {}));
  tools.io.out(`${JSON.stringify(body, null, 2)}\n`);
  return EXIT.ok;
}
