// @ts-nocheck
import {
  DescribeInstanceInformationCommand,
  GetCommandInvocationCommand,
  ListCommandInvocationsCommand,
  SendCommandCommand,
  SSMClient,
  type SendCommandCommandInput,
} from '@aws-sdk/client-ssm';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { CommandEvent } from '../../local/aws/ssm-command.ts';
import type { SsmDocument } from '../../local/aws/ssm-document.ts';
import { startSsm, type SsmFaults } from '../../local/aws/ssm.ts';
import { CLIENT, closing, codeOf, dataDir, surroundings, until } from './surroundings.ts';

const NODE = 'i-0123456789abcdef0';
const OTHER = 'mi-0123456789abcdef0';
const ABSENT = 'i-00000000';

/** Writes what it was told where the node's environment says. */
const DOCUMENT: SsmDocument = {
  schemaVersion: '2.2',
  parameters: {
    word: { type: 'String', allowedPattern: '^[^;]{1,20}$', interpolationType: 'ENV_VAR' },
    exit: { type: 'String', allowedPattern: '^[0-9]{1,3}$', default: '0' },
  },
  mainSteps: [
    {
      action: 'aws:runShellScript',
      name: 'say',
      inputs: {
        timeoutSeconds: '20',
        runCommand: ['printf %s "$SSM_word" > "$OUT/word"', 'echo "command $SSM_COMMAND_ID"', 'exit {{ exit }}'],
      },
    },
  ],
};
const oneLine = (line: string): SsmDocument => ({
  schemaVersion: '2.2',
  mainSteps: [{ action: 'aws:runShellScript', name: 'run', inputs: { timeoutSeconds: '1', runCommand: [line] } }],
});
const nowhere: SsmDocument = {
  schemaVersion: '2.2',
  mainSteps: [
    { action: 'aws:runShellScript', name: 'run', inputs: { workingDirectory: '/nowhere', runCommand: ['true'] } },
  ],
};
const DOCUMENTS = {
  'holdoff-wake': DOCUMENT,
  'holdoff-sleep': oneLine('sleep 600'),
  'holdoff-nowhere': nowhere,
  'holdoff-daemon': oneLine('setsid sleep 5 & exit 0'),
  'holdoff-env': oneLine('env > "$OUT/env"'),
};

interface Setup {
  readonly faults?: Partial<SsmFaults>;
  readonly undeliverableAfterMs?: number;
  readonly node?: Readonly<Record<string, unknown>>;
}

async function start(setup: Setup = {}) {
  const directory = dataDir();
  const managedDir = join(directory, 'managed');
  mkdirSync(managedDir);
  const register = (nodeId: string, node: Readonly<Record<string, unknown>>): void =>
    writeFileSync(join(managedDir, `${nodeId}.json`), JSON.stringify({ env: { OUT: directory }, ...node }));
  register(NODE, setup.node ?? {});
  const events: CommandEvent[] = [];
  const { notices, ...around } = surroundings();
  const ssm = closing(
    await startSsm({
      ...around,
      managedDir,
      documents: DOCUMENTS,
      seed: 1,
      faults: { loseOneIn: 0, loseEventOneIn: 0, refuseOneIn: 0, ...setup.faults },
      undeliverableAfterMs: setup.undeliverableAfterMs,
      emit: (event) => events.push(event),
    }),
  );
  const client = new SSMClient({ ...CLIENT, endpoint: ssm.url });
  const send = (change: Partial<SendCommandCommandInput> = {}) =>
    client.send(
      new SendCommandCommand({
        DocumentName: 'holdoff-wake',
        InstanceIds: [NODE],
        Parameters: { word: ['hello'] },
        TimeoutSeconds: 30,
        ...change,
      }),
    );
  const statuses = (): string[] => events.map(({ detail }) => detail.status);
  return { client, send, events, statuses, register, directory, notices };
}

describe('the embedded Run Command', () => {
  it('runs the script on the node, with its environment, and tells of each status', async () => {
    const { client, send, events, statuses, directory } = await start();
    const { Command } = await send({ Comment: 'wake 1' });
    expect(Command).toMatchObject({ DocumentName: 'holdoff-wake', Comment: 'wake 1', Status: 'Pending' });
    await until(() => statuses().includes('Success'));
    expect(statuses()).toEqual(['Pending', 'InProgress', 'Success']);
    expect(readFileSync(join(directory, 'word'), 'utf8')).toBe('hello');
    expect(events[2]).toMatchObject({
      'detail-type': 'EC2 Command Invocation Status-change Notification',
      source: 'aws.ssm',
      resources: [`arn:aws:ec2:us-east-1:000000000000:instance/${NODE}`],
      detail: { 'command-id': Command?.CommandId, 'document-name': 'holdoff-wake', 'instance-id': NODE },
    });
    const found = await client.send(
      new GetCommandInvocationCommand({ CommandId: Command?.CommandId, InstanceId: NODE }),
    );
    expect(found).toMatchObject({
      Status: 'Success',
      ResponseCode: 0,
      StandardOutputContent: `command ${Command?.CommandId}\n`,
    });
  });

  it('hands a parameter over as it is, whatever the shell would make of it', async () => {
    const { send, statuses, directory } = await start();
    await send({ Parameters: { word: ['$(echo no) "`x`'] } });
    await until(() => statuses().includes('Success'));
    expect(readFileSync(join(directory, 'word'), 'utf8')).toBe('$(echo no) "`x`');
  });

  it('shows a script none of our own environment', async () => {
    const { send, statuses, directory } = await start();
    vi.stubEnv('HOLDOFF_TEST_SECRET', 'secret');
    await send({ DocumentName: 'holdoff-env', Parameters: {} });
    await until(() => statuses().includes('Success'));
    vi.unstubAllEnvs();
    const seen = readFileSync(join(directory, 'env'), 'utf8');
    expect(seen).toContain(`OUT=${directory}`);
    expect(seen).not.toContain('HOLDOFF_TEST_SECRET');
  });

  it('takes a document by its ARN, and lists what became of a command', async () => {
    const { client, send, statuses } = await start();
    const { Command } = await send({ DocumentName: 'arn:aws:ssm:us-east-1:000000000000:document/holdoff-wake' });
    await until(() => statuses().includes('Success'));
    const { CommandInvocations } = await client.send(
      new ListCommandInvocationsCommand({ CommandId: Command?.CommandId }),
    );
    expect(CommandInvocations).toMatchObject([{ InstanceId: NODE, Status: 'Success', StatusDetails: 'Success' }]);
  });

  it('ends Failed when the script does not exit with 0', async () => {
    const { send, statuses } = await start();
    await send({ Parameters: { word: ['a'], exit: ['3'] } });
    await until(() => statuses().includes('Failed'));
    expect(statuses()).toEqual(['Pending', 'InProgress', 'Failed']);
  });

  it('kills a script at its time-out', async () => {
    const { send, events } = await start();
    await send({ DocumentName: 'holdoff-sleep', Parameters: {} });
    await until(() => events.length === 3);
    expect(events[2]?.detail).toMatchObject({ status: 'TimedOut', 'status-details': 'Execution Timed Out' });
  });

  it('is not held up for ever by a child that left the group and kept the pipes', async () => {
    const { send, events } = await start();
    await send({ DocumentName: 'holdoff-daemon', Parameters: {} });
    await until(() => events.length === 3);
    expect(events[2]?.detail).toMatchObject({ status: 'TimedOut', 'status-details': 'Execution Timed Out' });
  });

  it('ends Failed when the shell cannot be started', async () => {
    const { send, events } = await start();
    await send({ DocumentName: 'holdoff-nowhere', Parameters: {} });
    await until(() => events.length === 3);
    expect(events[2]?.detail.status).toBe('Failed');
  });

  it('refuses the whole batch when one node is not registered', async () => {
    const { send, events } = await start();
    const batch = send({ InstanceIds: [NODE, ABSENT] });
    expect(await codeOf(batch)).toBe('InvalidInstanceId');
    await expect(batch).rejects.toThrow(ABSENT);
    expect(events).toEqual([]);
  });

  it.each<[string, string, Partial<SendCommandCommandInput>]>([
    ['ValidationException', 'an id that is no node', { InstanceIds: ['i-xyz'] }],
    ['ValidationException', 'no node at all', { InstanceIds: [] }],
    ['ValidationException', '51 nodes', { InstanceIds: Array.from({ length: 51 }, () => NODE) }],
    ['DuplicateInstanceId', 'a node twice', { InstanceIds: [NODE, NODE] }],
    ['InvalidDocument', 'a document that does not exist', { DocumentName: 'AWS-RunShellScript' }],
    ['InvalidDocumentVersion', 'a version that does not exist', { DocumentVersion: '2' }],
    ['InvalidParameters', 'a value outside of the pattern', { Parameters: { word: ['a;b'] } }],
    ['InvalidParameters', 'a missing parameter', { Parameters: {} }],
    ['InvalidParameters', 'an unknown parameter', { Parameters: { word: ['a'], words: ['b'] } }],
    ['InvalidParameters', 'two values', { Parameters: { word: ['a', 'b'] } }],
    ['ValidationException', 'a delivery time-out of 29 s', { TimeoutSeconds: 29 }],
    ['ValidationException', 'a comment of 101 characters', { Comment: 'a'.repeat(101) }],
  ])('answers %s to %s', async (code, _, change) => {
    const { send, events } = await start();
    expect(await codeOf(send(change))).toBe(code);
    expect(events).toEqual([]);
  });

  it('accepts a command for a node that is offline, and ends it Undeliverable', async () => {
    const { send, events } = await start({ node: { online: false }, undeliverableAfterMs: 50 });
    await send();
    await until(() => events.length === 2);
    expect(events[1]?.detail).toMatchObject({ status: 'Failed', 'status-details': 'Undeliverable' });
  });

  it('delivers it when the node comes back in time', async () => {
    const { send, statuses, register } = await start({ node: { online: false } });
    await send();
    register(NODE, { online: true });
    await until(() => statuses().includes('Success'));
  });

  it('loses a wake when told to: accepted, never run, and no event', async () => {
    const { client, send, events } = await start({ faults: { loseOneIn: 1 } });
    const { Command } = await send();
    const { Status } = await client.send(
      new GetCommandInvocationCommand({ CommandId: Command?.CommandId, InstanceId: NODE }),
    );
    expect(Status).toBe('Pending');
    expect(events).toEqual([]);
  });

  it('throttles when told to', async () => {
    const { send } = await start({ faults: { refuseOneIn: 1 } });
    expect(await codeOf(send())).toBe('ThrottlingException');
  });

  it('lists the nodes that are registered, at this moment', async () => {
    const { client, register } = await start();
    register(OTHER, { online: false });
    const all = await client.send(new DescribeInstanceInformationCommand({}));
    expect(all.InstanceInformationList).toMatchObject([
      { InstanceId: NODE, PingStatus: 'Online' },
      { InstanceId: OTHER, PingStatus: 'ConnectionLost' },
    ]);
    const Filters = [{ Key: 'InstanceIds', Values: [OTHER, ABSENT] }];
    const some = await client.send(new DescribeInstanceInformationCommand({ Filters }));
    expect(some.InstanceInformationList?.map(({ InstanceId }) => InstanceId)).toEqual([OTHER]);
  });
});
