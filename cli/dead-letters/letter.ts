/** What a message in a dead-letter queue was for, why it came there as far as it says, and what can be done with it. Pure. */
import * as z from 'zod/mini';
import { instant, type Instant, minutes, between, formatInstant } from '../../core/kit/time.ts';
import { oneLine } from '../../present/text.ts';

export const DEAD_QUEUES = ['timers', 'commands', 'events'] as const;
export type DeadQueue = (typeof DEAD_QUEUES)[number];

/** A message as SQS gives it. */
export type Message = {
  readonly id: string;
  readonly receipt: string;
  readonly body: string;
  readonly sentAt: Instant;
  /** Message attributes by name: Scheduler and EventBridge say there why they gave up. */
  readonly said: Readonly<Record<string, string>>;
};

/** Where a message is sent again; the payload is never changed. */
export type Replay =
  | { readonly to: 'vernier' | 'commands'; readonly body: string }
  | { readonly to: 'bus'; readonly detailType: string; readonly detail: string };

export type Letter = {
  readonly queue: DeadQueue;
  readonly message: Message;
  readonly what: string;
  /** Null: it does not say. */
  readonly why: string | null;
  /** Null: it cannot be, or is of no use any more. */
  readonly replay: Replay | null;
  /** What happens without it, or what to do in its place. */
  readonly otherwise: string;
};

/** Older wakes wake nobody for anything: while they mattered they were repeated. */
const WAKE_WORTH = minutes(60);
const RAW_LENGTH = 120;

const firing = z.object({ kind: z.enum(['node', 'vm', 'group']), id: z.string(), at: z.number() });
const wake = z.object({ nodeId: z.string(), generation: z.nullish(z.number()) });
const busEvent = z.object({ source: z.string(), 'detail-type': z.string(), detail: z.record(z.string(), z.unknown()) });
/** What Lambda's on-failure destination writes around the event that was given up. */
const failedRun = z.object({
  requestContext: z.object({ functionArn: z.string(), condition: z.optional(z.string()) }),
  requestPayload: z.unknown(),
  responsePayload: z.optional(z.nullable(z.object({ errorMessage: z.optional(z.string()) }))),
});

/** @param now wakes are judged by their age */
export function readLetter(queue: DeadQueue, message: Message, now: Instant): Letter {
  const value = jsonOf(message.body);
  const run = z.safeParse(failedRun, value);
  const payload = run.success ? run.data.requestPayload : value;
  const why = run.success ? sayRun(run.data) : sayAttributes(message.said);
  return { queue, message, why, ...purposeOf(queue, payload, message, now) };
}

type Purpose = Pick<Letter, 'what' | 'replay' | 'otherwise'>;

function purposeOf(queue: DeadQueue, payload: unknown, message: Message, now: Instant): Purpose {
  const timer = z.safeParse(firing, payload);
  if (timer.success) {
    const { kind, id, at } = timer.data;
    return {
      what: `the timer of ${kind} ${id}, due ${formatInstant(instant(at))}`,
      replay: { to: 'vernier', body: JSON.stringify(payload) },
      otherwise: 'the sweep has done the same from the table; a stale timer changes nothing',
    };
  }
  const woken = queue === 'commands' ? z.safeParse(wake, payload) : null;
  if (woken?.success === true) {
    const { nodeId, generation } = woken.data;
    const fresh = between(message.sentAt, now) < WAKE_WORTH;
    return {
      what: `a wake of node ${nodeId}${generation == null || generation === 0 ? ' for a VM there' : `, generation ${generation}`}`,
      replay: fresh ? { to: 'commands', body: JSON.stringify(payload) } : null,
      otherwise: fresh
        ? 'it is repeated by itself while it matters, and the node hears at its next report'
        : 'too old to be of use: it was repeated while it mattered',
    };
  }
  const event = z.safeParse(busEvent, payload);
  if (event.success) return purposeOfEvent(event.data);
  if (queue === 'events' && (payload === null || isEmpty(payload)))
    return { what: 'a sweep that failed', replay: null, otherwise: 'the next one, 3 min later, did the same work' };
  return {
    what: `a message that is none of ours: ${oneLine(message.body).slice(0, RAW_LENGTH)}`,
    replay: null,
    otherwise: 'somebody else sent it, or another release did',
  };
}

function purposeOfEvent(event: z.infer<typeof busEvent>): Purpose {
  const { source, detail } = event;
  const type = event['detail-type'];
  if (source === 'holdoff') {
    const subject = typeof detail['subject'] === 'string' ? ` of ${oneLine(detail['subject'])}` : '';
    return {
      what: `the event "${oneLine(type)}"${subject}, for the event log`,
      replay: { to: 'bus', detailType: type, detail: JSON.stringify(detail) },
      otherwise: 'the log keeps a gap; the decision itself was in the table first',
    };
  }
  const nodeId = text(detail['instance-id']);
  if (source === 'aws.ec2') {
    const state = text(detail['state']) ?? 'changed';
    const next =
      state === 'terminated' ? `holdoff nodes delete ${nodeId ?? 'ID'}` : `holdoff nodes fence ${nodeId ?? 'ID'}`;
    return {
      what: `EC2 says that ${nodeId ?? 'a machine'} is ${oneLine(state)}`,
      replay: null,
      otherwise:
        state === 'running'
          ? 'its next report says so, too'
          : `AWS takes no event of its own back: if it is so, \`${next}\`; the sweep finds it after a day`,
    };
  }
  if (source === 'aws.cloudwatch')
    return {
      what: `CloudWatch says that alarm ${text(detail['alarmName']) ?? ''} has changed`,
      replay: null,
      otherwise: 'the sweep reads the alarms of haltOnAlarm by itself',
    };
  if (source === 'aws.ssm' && nodeId !== null)
    return {
      what: `SSM says how a wake of ${nodeId} ended (${oneLine(type)})`,
      replay: null,
      otherwise: 'the wake is repeated in its time',
    };
  return {
    what: `the event "${oneLine(type)}" of ${oneLine(source)}`,
    replay: null,
    otherwise: 'AWS takes no event of its own back; a machine that is gone: `holdoff nodes delete ID`',
  };
}

/** Scheduler and EventBridge name the error of the delivery that they gave up. */
function sayAttributes(said: Message['said']): string | null {
  const code = said['ERROR_CODE'];
  const why = said['ERROR_MESSAGE'];
  const condition = said['EXHAUSTED_RETRY_CONDITION'];
  const words = [code, why].filter((part) => part !== undefined).map(oneLine);
  if (words.length === 0) return null;
  return `${words.join(': ')}${condition === undefined ? '' : ` (given up: ${oneLine(condition)})`}`;
}

function sayRun({ requestContext, responsePayload }: z.infer<typeof failedRun>): string {
  const name = requestContext.functionArn.split(':')[6] ?? 'the function';
  const error = responsePayload?.errorMessage;
  const condition = requestContext.condition === undefined ? '' : ` (${oneLine(requestContext.condition)})`;
  return `${oneLine(name)} failed${error === undefined ? '' : `: ${oneLine(error)}`}${condition}`;
}

const text = (value: unknown): string | null => (typeof value === 'string' ? oneLine(value) : null);

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
