// @ts-nocheck
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { EventBridgeEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { chanceFrom } from './chance.ts';
import { AwsError, EmbeddedAwsError, throttled, validation } from './errors.ts';
import { openAsyncInvocations, type DeadLetter } from './lambda.ts';
import { byTarget, readInput, serveWire, type Surroundings } from './wire.ts';

/** What goes wrong, and how often. All odds are "one in N"; 0 is never, 1 is always. */
export interface EventBridgeFaults {
  /** A subscriber gets the event twice: delivery is at least once. */
  twiceOneIn: number;
  /** PutEvents answers ThrottlingException. */
  refuseOneIn: number;
}

export const EVENT_BRIDGE_FAULTS: EventBridgeFaults = { twiceOneIn: 20, refuseOneIn: 0 };

/** A rule and its target. */
export interface Subscriber {
  /** Unique; names the target in the journal of undelivered events. */
  readonly name: string;
  /** Name of the bus; AWS's own events are on `default`. */
  readonly bus: string;
  /** Sources the rule matches; all of the bus without it. */
  readonly sources?: readonly string[];
  readonly detailTypes?: readonly string[];
  readonly deliver: (event: EventBridgeEvent<string, unknown>) => Promise<void>;
}

export interface EventBridgeOptions extends Surroundings {
  readonly port?: number;
  readonly dataDir: string;
  /** Event buses besides `default`. */
  readonly buses?: readonly string[];
  readonly seed?: number | undefined;
  readonly faults?: Partial<EventBridgeFaults> | undefined;
  readonly deadLetter: (letter: DeadLetter) => void;
  readonly retryDelaysMs?: readonly number[];
}

export interface EmbeddedEventBridge {
  readonly url: string;
  /** Begins to deliver to these; events put before, and not yet delivered, reach them too. */
  readonly start: (subscribers: readonly Subscriber[]) => void;
  /** Puts an event of an AWS service on the default bus. */
  readonly publish: (event: EventBridgeEvent<string, unknown>) => void;
  /** Delivers nothing more and waits for what is under way; events are still taken. */
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const ENTRIES_MAX = 10;
const BYTES_MAX = 256 * 1024;

const words = z.optional(z.string());
const Entry = z.object({
  Source: words,
  DetailType: words,
  Detail: words,
  EventBusName: words,
  Time: z.optional(z.number()),
  Resources: z.optional(z.array(z.string())),
});
type Entry = z.infer<typeof Entry>;
const PutEvents = z.object({ Entries: z.array(Entry).check(z.minLength(1), z.maxLength(ENTRIES_MAX)) });

/** The event as it is kept on disk until it is delivered. */
const StoredEvent = z.object({
  version: z.string(),
  id: z.string(),
  'detail-type': z.string(),
  source: z.string(),
  account: z.string(),
  time: z.string(),
  region: z.string(),
  resources: z.array(z.string()),
  detail: z.unknown(),
});

type Verdict = { readonly EventId: string } | { readonly ErrorCode: string; readonly ErrorMessage: string };

/** Starts the stand-in of EventBridge: PutEvents, strict, fanned out to callbacks at least once. */
export async function startEventBridge(options: EventBridgeOptions): Promise<EmbeddedEventBridge> {
  const faults = { ...EVENT_BRIDGE_FAULTS, ...options.faults };
  const chance = chanceFrom(options.seed);
  const buses = new Set(['default', ...(options.buses ?? [])]);
  let subscribers: readonly Subscriber[] | null = null;

  const invocations = openAsyncInvocations({
    file: join(options.dataDir, 'eventbridge-deliveries.jsonl'),
    service: 'events',
    notify: options.notify,
    deadLetter: options.deadLetter,
    invoke: async (target, payload) => {
      const subscriber = subscribers?.find(({ name }) => name === target);
      if (subscriber === undefined) throw new EmbeddedAwsError('UnknownName', `there is no subscriber ${target}`);
      await subscriber.deliver(z.parse(StoredEvent, payload));
    },
    ...(options.retryDelaysMs === undefined ? {} : { retryDelaysMs: options.retryDelaysMs }),
  });
  const fanOut = (bus: string, event: EventBridgeEvent<string, unknown>): void => {
    if (subscribers === null) throw new AwsError('InternalException', 'The stand-in has not been started', 500);
    for (const subscriber of subscribers) {
      if (!matches(subscriber, bus, event)) continue;
      invocations.enqueue(subscriber.name, event);
      if (chance.oneIn(faults.twiceOneIn)) invocations.enqueue(subscriber.name, event);
    }
  };
  const put = (entry: Entry): Verdict => {
    const refusal = refuse(entry, buses);
    if (refusal !== null) return refusal;
    const event = toEvent(entry, options);
    fanOut(busName(entry), event);
    return { EventId: event.id };
  };
  const server = await serveWire(options.port ?? 0, options, {
    signingName: 'events',
    contentType: 'application/x-amz-json-1.1',
    answer: byTarget('AWSEvents', {
      PutEvents: (body) => {
        if (chance.oneIn(faults.refuseOneIn)) throw throttled();
        const { Entries } = readInput(PutEvents, body);
        if (Entries.reduce((sum, entry) => sum + sizeOf(entry), 0) > BYTES_MAX) {
          throw validation('Total size of the entries in the request is over the limit.');
        }
        const verdicts = Entries.map(put);
        return { Entries: verdicts, FailedEntryCount: verdicts.filter((verdict) => 'ErrorCode' in verdict).length };
      },
    }),
  });
  return {
    url: server.url,
    start: (given) => {
      subscribers = given;
      invocations.start();
    },
    publish: (event) => fanOut('default', event),
    stop: invocations.stop,
    close: async () => {
      await server.close();
      invocations.close();
    },
  };
}

function matches(subscriber: Subscriber, bus: string, event: EventBridgeEvent<string, unknown>): boolean {
  const { sources, detailTypes } = subscriber;
  if (subscriber.bus !== bus) return false;
  if (sources !== undefined && !sources.includes(event.source)) return false;
  return detailTypes === undefined || detailTypes.includes(event['detail-type']);
}

/** A bus is named by its name or its ARN. */
function busName(entry: Entry): string {
  const given = entry.EventBusName ?? 'default';
  return given.startsWith('arn:') ? (given.split('/')[1] ?? '') : given;
}

function refuse(entry: Entry, buses: ReadonlySet<string>): Verdict | null {
  for (const field of ['Source', 'DetailType', 'Detail'] as const) {
    if ((entry[field] ?? '') !== '') continue;
    const ErrorMessage = `Parameter ${field} is not valid. Reason: ${field} is a required argument.`;
    return { ErrorCode: 'InvalidArgument', ErrorMessage };
  }
  if (entry.Source?.startsWith('aws.') === true) {
    const ErrorMessage = `Not authorized for the source: ${entry.Source}.`;
    return { ErrorCode: 'NotAuthorizedForSourceException', ErrorMessage };
  }
  if ((entry.DetailType?.length ?? 0) > 128) {
    return { ErrorCode: 'InvalidArgument', ErrorMessage: 'DetailType is longer than 128 characters.' };
  }
  if (readDetail(entry.Detail ?? '') === null) {
    return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
  }
  if (!buses.has(busName(entry))) {
    return { ErrorCode: 'InvalidArgument', ErrorMessage: `Event bus ${busName(entry)} does not exist.` };
  }
  return null;
}

/** The detail, which must be a JSON object; null when it is not. */
function readDetail(detail: string): object | null {
  try {
    const value: unknown = JSON.parse(detail);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null; // not JSON: the answer to the question asked
  }
}

function toEvent(entry: Entry, options: Surroundings): EventBridgeEvent<string, unknown> {
  const time = entry.Time === undefined ? new Date() : new Date(entry.Time * 1000);
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': entry.DetailType ?? '',
    source: entry.Source ?? '',
    account: options.accountId,
    time: toSecond(time),
    region: options.region,
    resources: entry.Resources ?? [],
    detail: readDetail(entry.Detail ?? ''),
  };
}

/** The time as events carry it: UTC, whole seconds. */
export const toSecond = (time: Date): string => time.toISOString().replace(/\.\d{3}Z$/, 'Z');

/** An entry's size as the service counts it: 14 bytes for a time, and the UTF-8 of the other fields. */
function sizeOf(entry: Entry): number {
  const texts = [entry.Source, entry.DetailType, entry.Detail, ...(entry.Resources ?? [])];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
  return bytes + (entry.Time === undefined ? 0 : 14);
}
