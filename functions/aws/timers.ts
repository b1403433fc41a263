/** Timers: EventBridge Scheduler, and the SQS vernier for short retry waits (DESIGN section 4). */
import { createHash } from 'node:crypto';
import {
  ConflictException,
  CreateScheduleCommand,
  type SchedulerClient,
  ValidationException,
} from '@aws-sdk/client-scheduler';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { hasVernier } from '../../core/decision/alarm.ts';
import { after, ceilToSecond, formatInstant, type Instant, seconds } from '../../core/kit/time.ts';
import type { Env } from '../env.ts';
import type { Ref, Timers } from '../ports.ts';

/** What a timer says when it fires; the table decides what it means. */
export type FiringMessage = { kind: Ref['kind']; id: string; at: number };

/** A wake that is a day late helps nobody: the sweep is there long before. */
const MAX_EVENT_AGE_SECONDS = 900;
const MAX_RETRIES = 3;

export class AwsTimers implements Timers {
  readonly #scheduler: SchedulerClient;
  readonly #sqs: SQSClient;
  readonly #env: Env;

  constructor(scheduler: SchedulerClient, sqs: SQSClient, env: Env) {
    this.#scheduler = scheduler;
    this.#sqs = sqs;
    this.#env = env;
  }

  async arm(ref: Ref, key: number, at: Instant, retry: boolean, now: Instant): Promise<void> {
    const message: FiringMessage = { kind: ref.kind, id: ref.id, at };
    if (at <= now) {
      await this.#vernier(message, 0);
      return;
    }
    const short = hasVernier({ at, retry }, now);
    const both = await Promise.allSettled([
      this.#schedule(message, key, at, now),
      ...(short ? [this.#vernier(message, Math.ceil((at - now) / 1000))] : []),
    ]);
    for (const one of both) if (one.status === 'rejected') throw one.reason;
  }

  async #schedule(message: FiringMessage, key: number, at: Instant, now: Instant): Promise<void> {
    try {
      await this.#create(message, key, ceilToSecond(at));
    } catch (error) {
      // The name says who waits for what: the schedule is there already.
      if (error instanceof ConflictException) return;
      if (!(error instanceof ValidationException)) throw error;
      // Scheduler's clock may be ahead of ours: it took the instant for past (facts/aws-services.md section 1).
      await this.#create(message, key, ceilToSecond(after(now, seconds(60)))).catch((again: unknown) => {
        if (!(again instanceof ConflictException)) throw again;
      });
    }
  }

  async #create(message: FiringMessage, key: number, at: Instant): Promise<void> {
    const name = scheduleName(message, key, at);
    await this.#scheduler.send(
      new CreateScheduleCommand({
        Name: name,
        GroupName: this.#env.scheduleGroup,
        ClientToken: name,
        ScheduleExpression: `at(${formatInstant(at).slice(0, 19)})`,
        ScheduleExpressionTimezone: 'UTC',
        FlexibleTimeWindow: { Mode: 'OFF' },
        ActionAfterCompletion: 'DELETE',
        Target: {
          Arn: this.#env.timerTargetArn,
          RoleArn: this.#env.schedulerRoleArn,
          Input: JSON.stringify(message),
          RetryPolicy: { MaximumEventAgeInSeconds: MAX_EVENT_AGE_SECONDS, MaximumRetryAttempts: MAX_RETRIES },
          DeadLetterConfig: { Arn: this.#env.timerDeadLetterArn },
        },
      }),
    );
  }

  async #vernier(message: FiringMessage, delaySeconds: number): Promise<void> {
    await this.#sqs.send(
      new SendMessageCommand({
        QueueUrl: this.#env.vernierQueueUrl,
        MessageBody: JSON.stringify(message),
        DelaySeconds: delaySeconds,
      }),
    );
  }
}

/** A hash of who waits, in which generation or sequence, for what instant: within Scheduler's 64 characters. */
function scheduleName({ kind, id, at }: FiringMessage, key: number, fireAt: Instant): string {
  return `${kind}-${createHash('sha256').update(`${kind}/${id}/${key}/${at}/${fireAt}`).digest('hex').slice(0, 40)}`;
}
