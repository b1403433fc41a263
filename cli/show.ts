/** One thing in full, with its last events below. */
import type { EventEntry } from '../core/contract/answers.ts';
import { eventRows, eventsByAge, eventTable } from '../present/events.ts';
import { fieldBlock, fieldRows, type Field } from '../present/fields.ts';
import { harmlessLines } from '../present/text.ts';
import { paint } from '../present/tone.ts';
import { absoluteWhen, relativeWhen, type When } from '../present/when.ts';
import { readList, type PageCall } from './answers.ts';
import type { Tools } from './command.ts';
import { CliError, EXIT, ProblemError, type ExitCode } from './errors.ts';
import { print } from './output.ts';

const EVENTS_SHOWN = 10;

export type Shown = {
  readonly json: unknown;
  readonly fields: (when: When) => Field[];
  /** Text in lines of its own, such as a guest's console. */
  readonly console?: string | null;
  /** The call for its events; none for things without a log. */
  readonly events?: PageCall;
};

/** Prints every field, then the last events. A log that cannot be read does not hide the thing itself. */
export async function show(tools: Tools, shown: Shown): Promise<ExitCode> {
  const log = tools.json || shown.events === undefined ? [] : await readEvents(tools, shown.events);
  const events = log instanceof Error ? [] : log;
  print(tools, {
    json: shown.json,
    screen: () => onScreen(tools, shown, events),
    piped: () => inPipe(shown, events),
  });
  if (log instanceof Error) throw log;
  return EXIT.ok;
}

async function readEvents(tools: Tools, pageOf: PageCall): Promise<EventEntry[] | CliError | ProblemError> {
  try {
    return (await readList(await tools.client(), 'event', pageOf, { limit: EVENTS_SHOWN })).items;
  } catch (error) {
    if (error instanceof CliError || error instanceof ProblemError) return error;
    throw error;
  }
}

function onScreen(tools: Tools, shown: Shown, events: readonly EventEntry[]): string {
  const surface = tools.surface('wrap');
  const console = shown.console ?? '';
  return [
    fieldBlock(shown.fields(relativeWhen(surface.now)), surface),
    ...(console === ''
      ? []
      : [
          '',
          paint('Console at the last failure', 'quiet', surface),
          ...harmlessLines(console).map((line) => `  ${line}`),
        ]),
    ...(events.length === 0 ? [] : ['', eventTable(eventsByAge(events), surface)]),
  ].join('\n');
}

function inPipe(shown: Shown, events: readonly EventEntry[]): string {
  const console: Field[] = (shown.console ?? '') === '' ? [] : [{ label: 'Console', text: shown.console ?? '' }];
  return [
    fieldRows([...shown.fields(absoluteWhen), ...console]),
    ...(events.length === 0 ? [] : [eventRows(eventsByAge(events)).replaceAll(/^/gm, 'Event\t')]),
  ].join('\n');
}
