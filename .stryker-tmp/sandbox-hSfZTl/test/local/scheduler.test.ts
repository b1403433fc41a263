// @ts-nocheck
import {
  CreateScheduleCommand,
  DeleteScheduleCommand,
  GetScheduleCommand,
  SchedulerClient,
  UpdateScheduleCommand,
  type CreateScheduleCommandInput,
} from '@aws-sdk/client-scheduler';
import { describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../local/aws/lambda.ts';
import { startScheduler, type SchedulerFaults } from '../../local/aws/scheduler.ts';
import { CLIENT, closing, codeOf, dataDir, surroundings, until } from './surroundings.ts';

const TARGET = 'arn:aws:lambda:us-east-1:000000000000:function:timer';
const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:dead';
const EXACT: SchedulerFaults = { latenessMs: [0, 0], twiceOneIn: 0, loseOneIn: 0, refuseOneIn: 0 };

/** `at()` of the second that is `seconds` from now, rounded up. */
const at = (seconds: number): string => {
  const instant = new Date(Math.ceil(Date.now() / 1000) * 1000 + seconds * 1000);
  return `at(${instant.toISOString().slice(0, 19)})`;
};

const GOOD_TARGET = {
  Arn: TARGET,
  RoleArn: 'arn:aws:iam::000000000000:role/scheduler',
  RetryPolicy: { MaximumEventAgeInSeconds: 300, MaximumRetryAttempts: 3 },
  DeadLetterConfig: { Arn: QUEUE },
};

const schedule = (name: string, change: Partial<CreateScheduleCommandInput> = {}): CreateScheduleCommandInput => ({
  Name: name,
  GroupName: 'holdoff',
  ScheduleExpression: at(3600),
  ScheduleExpressionTimezone: 'UTC',
  FlexibleTimeWindow: { Mode: 'OFF' },
  ActionAfterCompletion: 'DELETE',
  Target: { ...GOOD_TARGET, Input: JSON.stringify({ name }) },
  ...change,
});

interface Setup {
  readonly directory?: string;
  readonly faults?: Partial<SchedulerFaults>;
  readonly invoke?: (arn: string, payload: unknown) => Promise<unknown>;
}

async function start(setup: Setup = {}) {
  const fired: { arn: string; payload: unknown; atMs: number }[] = [];
  const letters: DeadLetter[] = [];
  const { notices, ...around } = surroundings();
  const open = () =>
    startScheduler({
      ...around,
      dataDir: directory,
      groups: ['holdoff'],
      seed: 1,
      faults: { ...EXACT, ...setup.faults },
      invoke: async (arn, payload) => {
        fired.push({ arn, payload, atMs: Date.now() });
        await setup.invoke?.(arn, payload);
      },
      deadLetter: (letter) => letters.push(letter),
      retryDelaysMs: [5, 5],
    });
  const directory = setup.directory ?? dataDir();
  const scheduler = closing(await open());
  const client = new SchedulerClient({ ...CLIENT, endpoint: scheduler.url });
  return { scheduler, client, fired, letters, notices, directory };
}

describe('the embedded Scheduler', () => {
  it('fires a schedule at its instant, never before it, hands its input to the function and forgets it', async () => {
    const { scheduler, client, fired } = await start();
    scheduler.start();
    const expression = at(1);
    const created = await client.send(new CreateScheduleCommand(schedule('a', { ScheduleExpression: expression })));
    expect(created.ScheduleArn).toBe('arn:aws:scheduler:us-east-1:000000000000:schedule/holdoff/a');
    await until(() => fired.length > 0 && scheduler.stored === 0);
    expect(fired).toMatchObject([{ arn: TARGET, payload: { name: 'a' } }]);
    expect(fired[0]?.atMs).toBeGreaterThanOrEqual(Date.parse(`${expression.slice(3, -1)}Z`));
  });

  it('gives a schedule back as it was made', async () => {
    const { client } = await start();
    const made = schedule('a');
    await client.send(new CreateScheduleCommand({ ...made, ClientToken: 'token-1' }));
    const found = await client.send(new GetScheduleCommand({ Name: 'a', GroupName: 'holdoff' }));
    expect(found).toMatchObject({ ...made, State: 'ENABLED' });
    expect(found.CreationDate).toBeInstanceOf(Date);
  });

  it('answers a second schedule of one name with 409 ConflictException', async () => {
    const { client } = await start();
    await client.send(new CreateScheduleCommand(schedule('a')));
    const again = client.send(new CreateScheduleCommand(schedule('a')));
    await expect(again).rejects.toMatchObject({ name: 'ConflictException', $metadata: { httpStatusCode: 409 } });
  });

  it('takes one name in two groups', async () => {
    const { client, scheduler } = await start();
    await client.send(new CreateScheduleCommand(schedule('a')));
    await client.send(new CreateScheduleCommand(schedule('a', { GroupName: 'default' })));
    expect(scheduler.stored).toBe(2);
  });

  it.each<[string, RegExp, Partial<CreateScheduleCommandInput>]>([
    ['an instant that is past', /in the past/, { ScheduleExpression: at(-60) }],
    ['an instant with a zone', /Invalid Schedule/, { ScheduleExpression: 'at(2099-01-01T00:00:00Z)' }],
    ['a fraction of a second', /Invalid Schedule/, { ScheduleExpression: 'at(2099-01-01T00:00:00.5)' }],
    ['a day that does not exist', /Invalid Schedule/, { ScheduleExpression: 'at(2099-02-30T00:00:00)' }],
    ['a word', /Invalid Schedule/, { ScheduleExpression: 'at(tomorrow)' }],
    ['a name with an @', /Name/, { Name: 'a@b' }],
    ['a name of 65 characters', /Name/, { Name: 'a'.repeat(65) }],
    ['a group with a colon', /GroupName/, { GroupName: 'a:b' }],
    ['a token with a dot', /ClientToken/, { ClientToken: 'a.b' }],
    ['an input that is not JSON', /Target\.Input/, { Target: { ...GOOD_TARGET, Input: '{' } }],
    ['a role that is no ARN', /Target\.RoleArn/, { Target: { ...GOOD_TARGET, RoleArn: 'scheduler' } }],
    [
      'a retry policy of 186 attempts',
      /MaximumRetryAttempts/,
      { Target: { ...GOOD_TARGET, RetryPolicy: { MaximumRetryAttempts: 186 } } },
    ],
  ])('refuses %s with ValidationException', async (_, message, change) => {
    const { client, scheduler } = await start();
    const call = client.send(new CreateScheduleCommand(schedule('a', change)));
    expect(await codeOf(call)).toBe('ValidationException');
    await expect(call).rejects.toThrow(message);
    expect(scheduler.stored).toBe(0);
  });

  it('knows no schedule and no group that nobody made', async () => {
    const { client } = await start();
    const missing = { Name: 'nobody', GroupName: 'holdoff' };
    expect(await codeOf(client.send(new GetScheduleCommand(missing)))).toBe('ResourceNotFoundException');
    expect(await codeOf(client.send(new DeleteScheduleCommand(missing)))).toBe('ResourceNotFoundException');
    expect(await codeOf(client.send(new UpdateScheduleCommand(schedule('nobody'))))).toBe('ResourceNotFoundException');
    const elsewhere = schedule('a', { GroupName: 'nobody' });
    expect(await codeOf(client.send(new CreateScheduleCommand(elsewhere)))).toBe('ResourceNotFoundException');
  });

  it('replaces a schedule as a whole on update, and does not fire one that was deleted', async () => {
    const { client, scheduler, fired } = await start();
    scheduler.start();
    await client.send(new CreateScheduleCommand(schedule('moved')));
    await client.send(new CreateScheduleCommand(schedule('gone', { ScheduleExpression: at(1) })));
    await client.send(new DeleteScheduleCommand({ Name: 'gone', GroupName: 'holdoff' }));
    const { ActionAfterCompletion: _, ...update } = schedule('moved', { ScheduleExpression: at(1) });
    await client.send(new UpdateScheduleCommand(update));
    await until(() => fired.length > 0);
    expect(fired.map(({ payload }) => payload)).toEqual([{ name: 'moved' }]);
    const kept = await client.send(new GetScheduleCommand({ Name: 'moved', GroupName: 'holdoff' }));
    expect(kept.ActionAfterCompletion).toBe('NONE');
  });

  it('fires late when told to', async () => {
    const { client, scheduler, fired } = await start({ faults: { latenessMs: [700, 800] } });
    scheduler.start();
    const expression = at(1);
    await client.send(new CreateScheduleCommand(schedule('a', { ScheduleExpression: expression })));
    await until(() => fired.length > 0);
    expect(fired[0]?.atMs).toBeGreaterThanOrEqual(Date.parse(`${expression.slice(3, -1)}Z`) + 700);
  });

  it('fires twice when told to', async () => {
    const { client, scheduler, fired } = await start({ faults: { twiceOneIn: 1 } });
    scheduler.start();
    await client.send(new CreateScheduleCommand(schedule('a', { ScheduleExpression: at(1) })));
    await until(() => fired.length === 2);
  });

  it('loses one when told to: it vanishes without a firing', async () => {
    const { client, scheduler, fired } = await start({ faults: { loseOneIn: 1 } });
    scheduler.start();
    await client.send(new CreateScheduleCommand(schedule('a', { ScheduleExpression: at(1) })));
    await until(() => scheduler.stored === 0);
    expect(fired).toEqual([]);
  });

  it('throttles when told to', async () => {
    const { client } = await start({ faults: { refuseOneIn: 1 } });
    expect(await codeOf(client.send(new CreateScheduleCommand(schedule('a'))))).toBe('ThrottlingException');
  });

  it('keeps schedules over a restart, and fires what came due meanwhile', async () => {
    const first = await start();
    await first.client.send(new CreateScheduleCommand(schedule('soon', { ScheduleExpression: at(1) })));
    await first.client.send(new CreateScheduleCommand(schedule('later')));
    // Nothing is closed first: a process that is killed says no goodbye.
    const second = await start({ directory: first.directory });
    expect(second.scheduler.stored).toBe(2);
    second.scheduler.start();
    await until(() => second.fired.length > 0);
    expect(second.fired.map(({ payload }) => payload)).toEqual([{ name: 'soon' }]);
    expect(first.fired).toEqual([]);
  });

  it('retries a function that throws twice, then gives it up to the dead letters', async () => {
    const { client, scheduler, fired, letters, notices } = await start({
      invoke: () => Promise.reject(new Error('the handler is broken')),
    });
    scheduler.start();
    await client.send(new CreateScheduleCommand(schedule('a', { ScheduleExpression: at(1) })));
    await until(() => letters.length > 0);
    expect(fired).toHaveLength(3);
    expect(letters).toEqual([
      { target: TARGET, payload: { name: 'a' }, deadLetterArn: QUEUE, error: 'Error: the handler is broken' },
    ]);
    expect(notices.map(({ level }) => level)).toEqual(['error', 'error', 'error']);
  });

  it('fills in the context attributes of the input', async () => {
    const { client, scheduler, fired } = await start();
    scheduler.start();
    const ScheduleExpression = at(1);
    const Target = { ...GOOD_TARGET, Input: '{"due":"<aws.scheduler.scheduled-time>"}' };
    await client.send(new CreateScheduleCommand(schedule('a', { ScheduleExpression, Target })));
    await until(() => fired.length > 0);
    expect(fired[0]?.payload).toEqual({ due: `${ScheduleExpression.slice(3, -1)}Z` });
  });

  it('refuses a request that is signed for another service, or not at all', async () => {
    const { scheduler } = await start();
    const unsigned = await fetch(`${scheduler.url}/schedules/a`, { method: 'DELETE' });
    expect(unsigned.status).toBe(403);
    const client = new SchedulerClient({ ...CLIENT, region: 'eu-west-1', endpoint: scheduler.url });
    expect(await codeOf(client.send(new GetScheduleCommand({ Name: 'a' })))).toBe('InvalidSignatureException');
  });
});
