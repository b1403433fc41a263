// @ts-nocheck
import { setTimeout as pause } from 'node:timers/promises';
import type { EventBridgeEvent } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { toSecond } from './eventbridge.ts';
import { takesVariables, type ManagedNodes } from './managed-nodes.ts';
import { bindStep, type ParameterValues, type SsmDocument } from './ssm-document.ts';
import { runStep } from './ssm-shell.ts';
import type { Surroundings } from './wire.ts';

export type InvocationStatus = 'Pending' | 'InProgress' | 'Success' | 'Failed' | 'TimedOut';

/** A command on one node. */
export interface Invocation {
  readonly commandId: string;
  readonly nodeId: string;
  status: InvocationStatus;
  /** The finer status: e.g. `Undeliverable`, `Execution Timed Out`. */
  details: string;
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface Command {
  readonly commandId: string;
  readonly documentName: string;
  readonly document: SsmDocument;
  readonly values: ParameterValues;
  readonly comment: string;
  readonly timeoutSeconds: number;
  readonly requestedMs: number;
  readonly expiresMs: number;
  readonly invocations: ReadonlyMap<string, Invocation>;
}

/** "EC2 Command Invocation Status-change Notification" (facts/aws-services.md, section 2). */
export type CommandEvent = EventBridgeEvent<
  'EC2 Command Invocation Status-change Notification',
  {
    readonly 'command-id': string;
    readonly 'document-name': string;
    readonly 'instance-id': string;
    readonly 'requested-date-time': string;
    readonly status: InvocationStatus;
    readonly 'status-details': string;
  }
>;

export interface RunOptions extends Surroundings {
  readonly nodes: ManagedNodes;
  readonly emit: (event: CommandEvent) => void;
  readonly signal: AbortSignal;
}

/** How often an offline node is looked at again. */
const LOOK_AGAIN_MS = 250;

/** Delivers a command to one node and runs it there, telling of each status. Ends early when the signal aborts. */
export async function runInvocation(command: Command, invocation: Invocation, options: RunOptions): Promise<void> {
  const become = (status: InvocationStatus, details: string): void => {
    invocation.status = status;
    invocation.details = details;
    options.emit(toEvent(command, invocation, options));
  };
  become('Pending', 'Pending');
  let node = options.nodes.find(invocation.nodeId);
  while (node?.online !== true) {
    if (options.signal.aborted) return;
    if (Date.now() >= command.expiresMs) {
      become('Failed', 'Undeliverable');
      return;
    }
    await pause(LOOK_AGAIN_MS);
    node = options.nodes.find(invocation.nodeId);
  }
  become('InProgress', 'In Progress');
  const { document, values } = command;
  for (const step of document.mainSteps) {
    const bound = bindStep(document, step, values, takesVariables(node.agentVersion));
    const result = await runStep(bound, { ...node.env, SSM_COMMAND_ID: command.commandId });
    invocation.exitCode = result.exitCode;
    invocation.stdout += result.stdout;
    invocation.stderr += result.stderr;
    if (result.timedOut) {
      become('TimedOut', 'Execution Timed Out');
      return;
    }
    if (result.exitCode !== 0) {
      become('Failed', 'Failed');
      return;
    }
  }
  become('Success', 'Success');
}

function toEvent(command: Command, invocation: Invocation, around: Surroundings): CommandEvent {
  const { nodeId } = invocation;
  // The ARN of an mi- node in these events is not documented; consumers read detail.instance-id.
  const resource = nodeId.startsWith('mi-')
    ? `ssm:${around.region}:${around.accountId}:managed-instance`
    : `ec2:${around.region}:${around.accountId}:instance`;
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'EC2 Command Invocation Status-change Notification',
    source: 'aws.ssm',
    account: around.accountId,
    time: toSecond(new Date()),
    region: around.region,
    resources: [`arn:aws:${resource}/${nodeId}`],
    detail: {
      'command-id': command.commandId,
      'document-name': command.documentName,
      'instance-id': nodeId,
      'requested-date-time': new Date(command.requestedMs).toISOString(),
      status: invocation.status,
      'status-details': invocation.details,
    },
  };
}
