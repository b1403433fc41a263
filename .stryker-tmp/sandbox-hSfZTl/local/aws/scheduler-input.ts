// @ts-nocheck
import * as z from 'zod/mini';
import { validation } from './errors.ts';
import { readInput } from './wire.ts';

// Patterns and bounds are those of the API model (facts/aws-services.md, section 1). `z.pattern` anchors nothing itself.

export const NAME = /^[0-9a-zA-Z-_.]{1,64}$/;
const ARN = /^arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:\d{12}:.+$/;
const FUNCTION_ARN = /^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:[a-zA-Z0-9-_]+(:[a-zA-Z0-9-_$]+)?$/;
const ROLE_ARN = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/;
const QUEUE_ARN = /^arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:[a-zA-Z0-9-_]+$/;

const matching = (pattern: RegExp) => z.string().check(z.regex(pattern));
const whole = (min: number, max: number) => z.int().check(z.gte(min), z.lte(max));

const Target = z.object({
  Arn: matching(FUNCTION_ARN),
  RoleArn: matching(ROLE_ARN),
  Input: z.optional(z.string().check(z.minLength(1), z.maxLength(256 * 1024))),
  RetryPolicy: z.optional(
    z.object({
      MaximumEventAgeInSeconds: z.optional(whole(60, 86_400)),
      MaximumRetryAttempts: z.optional(whole(0, 185)),
    }),
  ),
  DeadLetterConfig: z.optional(z.object({ Arn: z.optional(matching(QUEUE_ARN)) })),
});

/** A schedule as it is stored and as GetSchedule gives it back: an omitted field has its default. */
export const StoredSchedule = z.object({
  Name: matching(NAME),
  GroupName: z._default(matching(NAME), 'default'),
  ScheduleExpression: z.string().check(z.minLength(1), z.maxLength(256)),
  ScheduleExpressionTimezone: z._default(z.string().check(z.minLength(1), z.maxLength(50)), 'UTC'),
  FlexibleTimeWindow: z.object({ Mode: z.literal('OFF', 'the stand-in takes OFF only') }),
  Target,
  State: z._default(z.enum(['ENABLED', 'DISABLED']), 'ENABLED'),
  ActionAfterCompletion: z._default(z.enum(['NONE', 'DELETE']), 'NONE'),
  Description: z.optional(z.string().check(z.maxLength(512))),
  KmsKeyArn: z.optional(matching(ARN)),
});
export type StoredSchedule = z.infer<typeof StoredSchedule>;

const Input = z.extend(StoredSchedule, { ClientToken: z.optional(matching(/^[a-zA-Z0-9-_]{1,64}$/)) });

export interface ReadSchedule {
  readonly schedule: StoredSchedule;
  readonly atMs: number;
}

/** Reads the body of CreateSchedule or UpdateSchedule. `now` decides whether an `at()` is past. */
export function readSchedule(name: string, body: unknown, nowMs: number): ReadSchedule {
  if (typeof body !== 'object' || body === null) throw validation('the body is not an object');
  const { ClientToken: _, ...schedule } = readInput(Input, { ...body, Name: name });
  if (schedule.Target.Input !== undefined && !isJson(schedule.Target.Input)) {
    throw validation('Target.Input is not well-formed JSON');
  }
  return { schedule, atMs: readAt(schedule, nowMs) };
}

/**
 * Reads `at(yyyy-mm-ddThh:mm:ss)`. AWS documents nothing on a past one; six code bases found ValidationException
 * (facts/aws-services.md, section 1), the stricter of the two outcomes, so that is what the stand-in answers.
 */
function readAt(schedule: StoredSchedule, nowMs: number): number {
  const { ScheduleExpression: expression, ScheduleExpressionTimezone: zone } = schedule;
  if (zone !== 'UTC' && zone !== 'Etc/UTC') throw validation(`the stand-in takes UTC only, not ${zone}`);
  const literal = /^at\((\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\)$/.exec(expression)?.[1];
  if (literal === undefined) throw validation(`Invalid Schedule Expression ${expression}.`);
  const atMs = Date.parse(`${literal}Z`);
  const real = Number.isFinite(atMs) && new Date(atMs).toISOString().startsWith(literal);
  if (!real) throw validation(`Invalid Schedule Expression ${expression}.`);
  if (atMs <= nowMs) throw validation(`Invalid Schedule Expression ${expression}: the instant is in the past.`);
  return atMs;
}

/** The name in `/schedules/{Name}`, checked. */
export function readName(path: string): string {
  const encoded = /^\/schedules\/([^/]+)$/.exec(path)?.[1];
  const name = encoded === undefined ? '' : decode(encoded);
  if (!NAME.test(name)) throw validation(`Name: ${JSON.stringify(name)} does not match ${NAME.source}`);
  return name;
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch (error) {
    throw validation(`Name: ${String(error)}`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // the answer to the question asked
  }
}
