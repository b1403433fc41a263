// @ts-nocheck
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendCommandCommand, SSMClient } from '@aws-sdk/client-ssm';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { EmbeddedHandlers } from '../../local/aws/index.ts';
import { startEmbeddedAws } from '../../local/aws/index.ts';
import { fillLaptop, startLaptop } from './laptop.ts';
import { closing, dataDir, until } from './surroundings.ts';

const NODE = 'i-0123456789abcdef0';
const environment = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
});

/** Handlers that keep what reached them. */
function recorder() {
  const timers: unknown[] = [];
  const messages: string[] = [];
  const events: string[] = [];
  const handlers: Partial<EmbeddedHandlers> = {
    functions: { timer: async (payload) => timers.push(payload) },
    consumers: {
      vernier: {
        handler: async (event) => {
          messages.push(...event.Records.map(({ body }) => body));
        },
      },
    },
    subscribers: [
      { name: 'log', bus: 'holdoff', deliver: async (event) => void events.push(event['detail-type']) },
      {
        name: 'command',
        bus: 'default',
        sources: ['aws.ssm'],
        deliver: async (event) => void events.push(JSON.stringify(event.detail)),
      },
    ],
  };
  return { timers, messages, events, handlers };
}

describe('the embedded AWS', () => {
  it('is found by the clients of the SDK through the environment alone', async () => {
    const { timers, messages, events, handlers } = recorder();
    const aws = closing(await startLaptop(dataDir(), handlers));
    await fillLaptop(aws);
    const Entries = [{ EventBusName: 'holdoff', Source: 'holdoff', DetailType: 'Node Crashed', Detail: '{}' }];
    await new EventBridgeClient().send(new PutEventsCommand({ Entries }));

    const agent = join(aws.managedDir, 'agent');
    mkdirSync(join(agent, 'wake'), { recursive: true });
    writeFileSync(join(aws.managedDir, `${NODE}.json`), JSON.stringify({ env: { HOLDOFF_AGENT_DIR: agent } }));
    const wake = { wakeId: ['w-1'], generation: ['4'] };
    await new SSMClient().send(
      new SendCommandCommand({ DocumentName: 'holdoff-wake', InstanceIds: [NODE], Parameters: wake }),
    );
    await until(() => timers.length === 1 && messages.length === 1 && events.some((text) => text.includes('Success')));
    expect(timers).toEqual([{ id: 'soon' }]);
    expect(messages).toEqual(['soon']);
    expect(events).toContain('Node Crashed');
    expect(readFileSync(join(agent, 'wake', 'w-1'), 'utf8')).toBe('4');
  });

  it('loses nothing when it is killed: items, timers and messages are there at the next start', async () => {
    const directory = dataDir();
    const script = fileURLToPath(new URL('filled-laptop.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', script, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');

    const { timers, messages, handlers } = recorder();
    closing(await startLaptop(directory, handlers));
    const Key = { pk: { S: 'kept' } };
    const { Item } = await new DynamoDBClient().send(new GetItemCommand({ TableName: 'holdoff', Key }));
    expect(Item).toEqual(Key);
    await until(() => timers.length === 1 && messages.length === 1);
    expect([timers, messages]).toEqual([[{ id: 'soon' }], ['soon']]);
  });

  it('puts a timer whose function always throws into its dead-letter queue', async () => {
    const functions = { timer: () => Promise.reject(new Error('broken')) };
    const aws = closing(await startLaptop(dataDir(), { functions }));
    await fillLaptop(aws);
    await until(() => aws.queueDepth('timer-dead') === 1);
  });

  it('lets go of everything when a start fails, so that the next one can succeed', async () => {
    const directory = dataDir();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const frontPort = typeof address === 'object' && address !== null ? address.port : 0;
    const options = { dataDir: directory, frontPort, queues: [], documents: {}, notice: () => undefined };
    const table = {
      TableName: 'holdoff',
      BillingMode: 'PAY_PER_REQUEST' as const,
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' as const }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' as const }],
    };
    const connect = (): EmbeddedHandlers => ({
      api: async () => ({ statusCode: 200 }),
      functions: {},
      consumers: {},
      subscribers: [],
    });
    await expect(startEmbeddedAws({ ...options, table, connect })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    taken.close();
    closing(await startEmbeddedAws({ ...options, table, connect }));
    expect(existsSync(join(directory, 'credentials.json'))).toBe(true);
  });
});
