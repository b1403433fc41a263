import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountOf, type Account } from '../../cli/doctor/account.ts';
import { instant } from '../../core/kit/time.ts';
import { CREDENTIALS, REGION } from './api-double.ts';

type Answer = { status?: number; body: object; errorType?: string };

/** Answers as AWS does, by the operation that is asked for. */
let answer: (operation: string, input: unknown) => Answer = () => ({ body: {} });
let server: Server;
let account: Account;
const signedFor: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const target = String(request.headers['x-amz-target'] ?? `${request.method} ${request.url}`);
      const operation = target.split('.').at(-1) ?? '';
      signedFor.push(/\/([a-z]+)\/aws4_request/.exec(request.headers.authorization ?? '')?.[1] ?? 'nobody');
      const { status = 200, body: json, errorType } = answer(operation, body === '' ? null : JSON.parse(body));
      response.writeHead(status, {
        'content-type': 'application/x-amz-json-1.0',
        ...(errorType === undefined ? {} : { 'x-amzn-errortype': errorType }),
      });
      response.end(JSON.stringify(json));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const endpoint = `http://127.0.0.1:${port}`;
  account = await accountOf(
    { endpoint, region: REGION, credentials: async () => CREDENTIALS, isLocal: false },
    { now: () => instant(Date.now()), timeoutMs: 20_000, endpoint },
  );
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

describe('what AWS answers', () => {
  it('alarms of a prefix, with their state', async () => {
    answer = (operation, input) => {
      expect([operation, input]).toMatchObject(['DescribeAlarms', { AlarmNamePrefix: 'holdoff-' }]);
      return { body: { MetricAlarms: [{ AlarmName: 'holdoff-gave-up', StateValue: 'ALARM' }] } };
    };
    expect(await account.alarms('holdoff-')).toEqual([{ name: 'holdoff-gave-up', state: 'ALARM' }]);
  });

  it('the depth of a queue, by its name', async () => {
    answer = (operation) =>
      operation === 'GetQueueUrl'
        ? { body: { QueueUrl: 'http://queue/holdoff-events-dead' } }
        : { body: { Attributes: { ApproximateNumberOfMessages: '3' } } };
    expect(await account.depth('holdoff-events-dead')).toBe(3);
  });

  it('a document, as JSON', async () => {
    answer = () => ({ body: { Status: 'Active', Content: '{}' } });
    expect(await account.document('holdoff-wake')).toEqual({ status: 'Active', content: '{}' });
  });

  it('a group of schedules', async () => {
    answer = (operation) => {
      expect(operation).toBe('GET /schedule-groups/holdoff');
      return { body: { State: 'ACTIVE' } };
    };
    expect(await account.scheduleGroup('holdoff')).toBe('ACTIVE');
  });

  it('how many functions may run, asked with a signature for Lambda', async () => {
    answer = (operation) => {
      expect(operation).toBe('GET /2016-08-19/account-settings/');
      return { body: { AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 900 } } };
    };
    expect(await account.concurrency()).toEqual({ account: 1000, unreserved: 900 });
    expect(signedFor.at(-1)).toBe('lambda');
  });
});

describe('what AWS refuses', () => {
  it.each<[string, string, () => Promise<unknown>]>([
    ['a queue', 'com.amazonaws.sqs#QueueDoesNotExist', () => account.depth('x')],
    ['a document', 'InvalidDocument', () => account.document('x')],
    ['a group of schedules', 'ResourceNotFoundException', () => account.scheduleGroup('x')],
  ])('%s that is not there is null', async (_what, type, ask) => {
    answer = () => ({ status: 400, body: { __type: type, message: 'no' }, errorType: type });
    expect(await ask()).toBeNull();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['alarms', () => account.alarms('x')],
    ['a queue', () => account.depth('x')],
    ['quotas', () => account.concurrency()],
  ])('%s that these credentials may not ask for is an error of that name', async (_what, ask) => {
    const type = 'AccessDeniedException';
    answer = () => ({ status: 403, body: { __type: type, message: 'no' }, errorType: `${type}:` });
    await expect(ask()).rejects.toMatchObject({ name: type });
  });
});
