/** Printing an event log: what there is, and what is added while somebody looks. */
import type { EventEntry } from '../core/contract/answers.ts';
import { eventLine, eventRows, eventsByAge, eventTable } from '../present/events.ts';
import { readList, type Listed, type PageCall } from './answers.ts';
import type { Client } from './client.ts';
import type { Tools } from './command.ts';
import { CliError, EXIT, ProblemError, type ExitCode } from './errors.ts';
import { chosen, print } from './output.ts';

/** How many events are shown when nobody says; the whole log is 30 days long. */
export const EVENTS_DEFAULT = 100;
const FOLLOW_MS = 2000;
/** Events remembered so as not to print them twice. */
const REMEMBERED_MAX = 5000;

export type EventOptions = { readonly limit?: number; readonly all?: boolean; readonly follow?: boolean };

/** Prints the newest events of a log, oldest first, and goes on with what is added when following. */
export async function printEvents(tools: Tools, pageOf: PageCall, options: EventOptions): Promise<ExitCode> {
  const client = await tools.client();
  const limit = options.limit ?? (options.all === true ? Infinity : EVENTS_DEFAULT);
  const first = await readList(client, 'event', pageOf, { limit });
  if (options.follow === true) return follow(tools, client, pageOf, first.items);
  printList(tools, first);
  if (tools.io.isTty && options.limit === undefined && options.all !== true && first.items.length === EVENTS_DEFAULT) {
    tools.io.err(`The newest ${EVENTS_DEFAULT}; --all shows the whole log.\n`);
  }
  return EXIT.ok;
}

function printList(tools: Tools, list: Listed<EventEntry>): void {
  const events = eventsByAge(list.items);
  print(tools, {
    json: list,
    screen: () => (events.length === 0 ? 'No events yet.' : eventTable(events, tools.surface())),
    piped: () => eventRows(events),
  });
}

async function follow(tools: Tools, client: Client, pageOf: PageCall, first: EventEntry[]): Promise<ExitCode> {
  const seen = new Set<string>();
  let events = first;
  let failing = false;
  for (;;) {
    for (const event of eventsByAge(events)) {
      if (!seen.has(event.id)) tools.io.out(`${followLine(tools, event)}\n`);
      seen.add(event.id);
    }
    forgetOldest(seen);
    await tools.io.sleep(FOLLOW_MS);
    if (tools.io.interrupted.aborted) return EXIT.ok;
    try {
      events = (await readList(client, 'event', pageOf, { limit: EVENTS_DEFAULT })).items;
      failing = false;
    } catch (error) {
      if (tools.io.interrupted.aborted) return EXIT.ok;
      if (!(error instanceof CliError || error instanceof ProblemError)) throw error;
      if (!failing) tools.io.err(`could not read the log: ${error.message}; trying again\n`);
      failing = true;
    }
  }
}

/** JSON while following is one event a line. */
function followLine(tools: Tools, event: EventEntry): string {
  if (tools.json) return JSON.stringify(chosen(tools, event));
  return tools.io.isTty ? eventLine(event, tools.surface('cut')) : eventRows([event]);
}

/** A set keeps its order of adding, so the first ones are the oldest. */
function forgetOldest(seen: Set<string>): void {
  for (const id of seen) {
    if (seen.size <= REMEMBERED_MAX) return;
    seen.delete(id);
  }
}
