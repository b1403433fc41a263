// @ts-nocheck
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import type { EventBridgeEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { startEventBridge, type EventBridgeFaults, type Subscriber } from '../../local/aws/eventbridge.ts';
import type { DeadLetter } from '../../local/aws/lambda.ts';
import { CLIENT, closing, codeOf, dataDir, surroundings, until } from './surroundings.ts';

const ENTRY: PutEventsRequestEntry = {
  Source: 'holdoff',
  DetailType: 'Node Crashed',
  Detail: '{"nodeId":"i-0"}',
  EventBusName: 'holdoff',
};

interface Setup {
  readonly directory?: string;
  readonly faults?: Partial<EventBridgeFaults>;
  readonly failures?: number;
}

async function start(setup: Setup = {}) {
  const directory = setup.directory ?? dataDir();
  const got: EventBridgeEvent<string, unknown>[] = [];
  const letters: DeadLetter[] = [];
  const { notices, ...around } = surroundings();
  const bridge = closing(
    await startEventBridge({
      ...around,
      dataDir: directory,
      buses: ['holdoff'],
      seed: 1,
      faults: { twiceOneIn: 0, refuseOneIn: 0, ...setup.faults },
      deadLetter: (letter) => letters.push(letter),
      retryDelaysMs: [5, 5],
    }),
  );
  let failures = setup.failures ?? 0;
  const log: Subscriber = {
    name: 'log',
    bus: 'holdoff',
    deliver: async (event) => {
      failures -= 1;
      if (failures >= 0) throw new Error('broken');
      got.push(event);
    },
  };
  const client = new EventBridgeClient({ ...CLIENT, endpoint: bridge.url });
  return { bridge, client, got, letters, notices, log, directory };
}

describe('the embedded EventBridge', () => {
  it('delivers an event to the subscribers of its bus, in the shape a rule has it', async () => {
    const { bridge, client, got, log } = await start();
    bridge.start([log]);
    const { Entries, FailedEntryCount } = await client.send(new PutEventsCommand({ Entries: [ENTRY] }));
    expect(FailedEntryCount).toBe(0);
    await until(() => got.length > 0);
    expect(got).toEqual([
      {
        version: '0',
        id: Entries?.[0]?.EventId,
        'detail-type': 'Node Crashed',
        source: 'holdoff',
        account: '000000000000',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        region: 'us-east-1',
        resources: [],
        detail: { nodeId: 'i-0' },
      },
    ]);
  });

  it('delivers only what a rule matches', async () => {
    const { bridge, client, got, log } = await start();
    const matched: string[] = [];
    const rule = (name: string, change: Partial<Subscriber>): Subscriber => ({
      ...log,
      name,
      deliver: async () => {
        matched.push(name);
      },
      ...change,
    });
    bridge.start([
      log,
      rule('other bus', { bus: 'default' }),
      rule('other source', { sources: ['aws.ssm'] }),
      rule('other type', { detailTypes: ['Node Updated'] }),
      rule('both', { sources: ['holdoff'], detailTypes: ['Node Crashed'] }),
    ]);
    await client.send(new PutEventsCommand({ Entries: [ENTRY] }));
    await until(() => got.length > 0 && matched.length > 0);
    expect(matched).toEqual(['both']);
  });

  it('takes the good entries of a request and names what is wrong with the others', async () => {
    const { bridge, client, got, log } = await start();
    bridge.start([log]);
    const Entries = [
      ENTRY,
      { ...ENTRY, Detail: '{' },
      { ...ENTRY, Detail: '[]' },
      { ...ENTRY, Detail: undefined },
      { ...ENTRY, Source: '' },
      { ...ENTRY, Source: 'aws.ssm' },
      { ...ENTRY, EventBusName: 'nobody' },
    ];
    const answer = await client.send(new PutEventsCommand({ Entries }));
    expect(answer.FailedEntryCount).toBe(6);
    expect(answer.Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([
      undefined,
      'MalformedDetail',
      'MalformedDetail',
      'InvalidArgument',
      'InvalidArgument',
      'NotAuthorizedForSourceException',
      'InvalidArgument',
    ]);
    await until(() => got.length > 0);
    expect(got).toHaveLength(1);
  });

  it('refuses eleven entries, none, and more than 256 KB', async () => {
    const { client } = await start();
    const put = (Entries: PutEventsRequestEntry[]): Promise<string> =>
      codeOf(client.send(new PutEventsCommand({ Entries })));
    const long = { ...ENTRY, Detail: JSON.stringify({ text: 'a'.repeat(200 * 1024) }) };
    expect(await put(Array.from({ length: 11 }, () => ENTRY))).toBe('ValidationException');
    expect(await put([])).toBe('ValidationException');
    expect(await put([long, long])).toBe('ValidationException');
  });

  it('delivers twice when told to', async () => {
    const { bridge, client, got, log } = await start({ faults: { twiceOneIn: 1 } });
    bridge.start([log]);
    await client.send(new PutEventsCommand({ Entries: [ENTRY] }));
    await until(() => got.length === 2);
    expect(got[0]?.id).toBe(got[1]?.id);
  });

  it('throttles when told to', async () => {
    const { client } = await start({ faults: { refuseOneIn: 1 } });
    expect(await codeOf(client.send(new PutEventsCommand({ Entries: [ENTRY] })))).toBe('ThrottlingException');
  });

  it('retries a subscriber that throws, and gives up after the third time', async () => {
    const { bridge, client, got, letters, log } = await start({ failures: 2 + 3 });
    bridge.start([log]);
    await client.send(new PutEventsCommand({ Entries: [ENTRY] }));
    await until(() => letters.length === 1);
    await client.send(new PutEventsCommand({ Entries: [ENTRY] }));
    await until(() => got.length === 1);
    expect(letters).toHaveLength(1);
  });

  it('delivers after a restart what was accepted and not delivered', async () => {
    const first = await start({ failures: 1_000_000 });
    first.bridge.start([first.log]);
    await first.client.send(new PutEventsCommand({ Entries: [ENTRY] }));
    await first.bridge.stop();
    const second = await start({ directory: first.directory });
    second.bridge.start([second.log]);
    await until(() => second.got.length === 1);
    expect(second.got[0]?.detail).toEqual({ nodeId: 'i-0' });
  });
});
