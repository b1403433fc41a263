// @ts-nocheck
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { chanceFrom } from './chance.ts';
import { AwsError, throttled, validation } from './errors.ts';
import { NODE_ID, openManagedNodes } from './managed-nodes.ts';
import { runInvocation, type Command, type CommandEvent, type Invocation } from './ssm-command.ts';
import { bindParameters, checkDocument, type SsmDocument } from './ssm-document.ts';
import { byTarget, readInput, serveWire, type Surroundings } from './wire.ts';

export type { CommandEvent } from './ssm-command.ts';

/** What goes wrong, and how often. All odds are "one in N"; 0 is never, 1 is always. */
export interface SsmFaults {
  /** Accepted for this node, and never run; no event tells of it. */
  loseOneIn: number;
  /** A status-change event is not sent: they are best effort. */
  loseEventOneIn: number;
  /** SendCommand answers ThrottlingException. */
  refuseOneIn: number;
}

export const SSM_FAULTS: SsmFaults = { loseOneIn: 50, loseEventOneIn: 50, refuseOneIn: 0 };

export interface SsmOptions extends Surroundings {
  readonly port?: number;
  /** Directory of the managed instances' files. */
  readonly managedDir: string;
  readonly documents: Readonly<Record<string, SsmDocument>>;
  readonly seed?: number | undefined;
  readonly faults?: Partial<SsmFaults> | undefined;
  /** An offline node's command ends Undeliverable after this; default is the command's TimeoutSeconds. */
  readonly undeliverableAfterMs?: number | undefined;
  readonly emit: (event: CommandEvent) => void;
}

export interface EmbeddedSsm {
  readonly url: string;
  /** Runs no more commands, and waits for those under way. Commands are not kept on disk: their wakes are repeated. */
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const COMMANDS_KEPT = 1_000;
const SIZE_MAX = 64 * 1024;
const DELIVERY_SECONDS = 3600;

const SendCommand = z.object({
  InstanceIds: z.optional(z.array(z.string().check(z.regex(NODE_ID))).check(z.maxLength(50))),
  Targets: z.optional(z.array(z.unknown())),
  DocumentName: z.string().check(z.regex(/^[a-zA-Z0-9_\-.:/]{3,128}$/)),
  DocumentVersion: z.optional(z.string().check(z.regex(/^(?:\$LATEST|\$DEFAULT|[1-9][0-9]*)$/))),
  TimeoutSeconds: z.optional(z.int().check(z.gte(30), z.lte(2_592_000))),
  Comment: z.optional(z.string().check(z.maxLength(100))),
  Parameters: z.optional(z.record(z.string(), z.array(z.string()))),
});
const GetInvocation = z.object({ CommandId: z.string(), InstanceId: z.string() });
const ListInvocations = z.object({ CommandId: z.optional(z.string()), InstanceId: z.optional(z.string()) });
const DescribeInformation = z.object({
  Filters: z.optional(z.array(z.object({ Key: z.string(), Values: z.array(z.string()) }))),
  MaxResults: z.optional(z.int().check(z.gte(5), z.lte(50))),
  NextToken: z.optional(z.string()),
});

/** Starts the stand-in of SSM Run Command: strict, with real shells, and best-effort events. */
export async function startSsm(options: SsmOptions): Promise<EmbeddedSsm> {
  const chance = chanceFrom(options.seed);
  const faults = { ...SSM_FAULTS, ...options.faults };
  const nodes = openManagedNodes(options.managedDir);
  const commands = new Map<string, Command>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  for (const [name, document] of Object.entries(options.documents)) checkDocument(name, document);

  const emit = (event: CommandEvent): void => {
    if (!chance.oneIn(faults.loseEventOneIn)) options.emit(event);
  };
  const launch = (command: Command, invocation: Invocation): void => {
    const work = runInvocation(command, invocation, { ...options, nodes, emit, signal: stopping.signal })
      .catch((error: unknown) => {
        options.notify({ level: 'error', service: 'ssm', message: `${invocation.nodeId} could not run`, error });
      })
      .finally(() => running.delete(work));
    running.add(work);
  };
  const register = (input: z.infer<typeof SendCommand>, document: SsmDocument, nodeIds: readonly string[]): Command => {
    const commandId = randomUUID();
    const timeoutSeconds = input.TimeoutSeconds ?? DELIVERY_SECONDS;
    const requestedMs = Date.now();
    const command: Command = {
      commandId,
      documentName: documentName(input.DocumentName),
      document,
      values: bindParameters(document, input.Parameters ?? {}),
      comment: input.Comment ?? '',
      timeoutSeconds,
      requestedMs,
      expiresMs: requestedMs + (options.undeliverableAfterMs ?? timeoutSeconds * 1000),
      invocations: new Map(nodeIds.map((nodeId) => [nodeId, freshInvocation(commandId, nodeId)])),
    };
    commands.set(commandId, command);
    for (const [oldest] of commands) if (commands.size > COMMANDS_KEPT) commands.delete(oldest);
    return command;
  };
  const sendCommand = (body: unknown): unknown => {
    if (chance.oneIn(faults.refuseOneIn)) throw throttled();
    const input = readInput(SendCommand, body);
    if (input.Targets !== undefined) throw validation('Targets: the stand-in takes InstanceIds only');
    const nodeIds = input.InstanceIds ?? [];
    if (nodeIds.length === 0) throw validation('InstanceIds: at least one is needed');
    if (new Set(nodeIds).size < nodeIds.length) throw new AwsError('DuplicateInstanceId', 'Instance ids are repeated');
    const document = options.documents[documentName(input.DocumentName)];
    if (document === undefined) throw new AwsError('InvalidDocument', `Document ${input.DocumentName} does not exist`);
    if (!['$LATEST', '$DEFAULT', '1'].includes(input.DocumentVersion ?? '$DEFAULT')) {
      throw new AwsError('InvalidDocumentVersion', `${input.DocumentName} has no version ${input.DocumentVersion}`);
    }
    if (JSON.stringify(document).length + JSON.stringify(input.Parameters ?? {}).length > SIZE_MAX) {
      throw new AwsError('MaxDocumentSizeExceeded', 'Document and parameters are longer than 64 KB');
    }
    const absent = nodeIds.filter((nodeId) => nodes.find(nodeId) === null);
    if (absent.length > 0) {
      const message = `Instances [[${absent.join(', ')}]] not in a valid state for account ${options.accountId}`;
      throw new AwsError('InvalidInstanceId', message);
    }
    const command = register(input, document, nodeIds);
    for (const invocation of command.invocations.values()) {
      if (!chance.oneIn(faults.loseOneIn)) launch(command, invocation);
    }
    return { Command: describeCommand(command) };
  };
  const server = await serveWire(options.port ?? 0, options, {
    signingName: 'ssm',
    contentType: 'application/x-amz-json-1.1',
    answer: byTarget('AmazonSSM', {
      SendCommand: sendCommand,
      GetCommandInvocation: (body) => {
        const input = readInput(GetInvocation, body);
        const command = commands.get(input.CommandId);
        const invocation = command?.invocations.get(input.InstanceId);
        if (command === undefined || invocation === undefined) throw new AwsError('InvocationDoesNotExist', '');
        return {
          ...describeInvocation(command, invocation),
          ResponseCode: invocation.exitCode,
          StandardOutputContent: invocation.stdout,
          StandardErrorContent: invocation.stderr,
        };
      },
      ListCommandInvocations: (body) => {
        const input = readInput(ListInvocations, body);
        const CommandInvocations = [...commands.values()]
          .filter(({ commandId }) => commandId === (input.CommandId ?? commandId))
          .flatMap((command) => [...command.invocations.values()].map((each) => describeInvocation(command, each)))
          .filter(({ InstanceId }) => InstanceId === (input.InstanceId ?? InstanceId));
        return { CommandInvocations };
      },
      DescribeInstanceInformation: (body) => {
        const { Filters = [], MaxResults = 50, NextToken = '0' } = readInput(DescribeInformation, body);
        const unknown = Filters.find(({ Key }) => Key !== 'InstanceIds');
        if (unknown !== undefined) throw new AwsError('InvalidFilterKey', `The stand-in has no filter ${unknown.Key}`);
        const ids = nodes.ids().filter((id) => Filters.every(({ Values }) => Values.includes(id)));
        const from = Number(NextToken);
        const page = ids.slice(from, from + MaxResults);
        return {
          InstanceInformationList: page.map((InstanceId) => {
            const node = nodes.find(InstanceId);
            return {
              InstanceId,
              PingStatus: node?.online === true ? 'Online' : 'ConnectionLost',
              AgentVersion: node?.agentVersion,
              PlatformType: 'Linux',
            };
          }),
          ...(from + MaxResults < ids.length ? { NextToken: String(from + MaxResults) } : {}),
        };
      },
    }),
  });
  return {
    url: server.url,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
    close: server.close,
  };
}

/** A document is named by its name or its ARN. */
const documentName = (given: string): string => (given.startsWith('arn:') ? (given.split('/').at(-1) ?? '') : given);

const freshInvocation = (commandId: string, nodeId: string): Invocation => ({
  commandId,
  nodeId,
  status: 'Pending',
  details: 'Pending',
  exitCode: -1,
  stdout: '',
  stderr: '',
});

function describeCommand(command: Command): Record<string, unknown> {
  return {
    CommandId: command.commandId,
    DocumentName: command.documentName,
    Comment: command.comment,
    InstanceIds: [...command.invocations.keys()],
    Parameters: Object.fromEntries([...command.values].map(([name, value]) => [name, [value]])),
    RequestedDateTime: command.requestedMs / 1000,
    ExpiresAfter: command.expiresMs / 1000,
    TimeoutSeconds: command.timeoutSeconds,
    Status: 'Pending',
    StatusDetails: 'Pending',
    TargetCount: command.invocations.size,
  };
}

function describeInvocation(command: Command, invocation: Invocation): Record<string, string | number> {
  return {
    InstanceId: invocation.nodeId,
    CommandId: command.commandId,
    Comment: command.comment,
    DocumentName: command.documentName,
    RequestedDateTime: command.requestedMs / 1000,
    Status: invocation.status,
    StatusDetails: invocation.details,
  };
}
