import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Construct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import { type HandlerDefaults, HandlerFunction } from './function.ts';
import { DeadLetterQueue, WorkQueue } from './queue.ts';
import type { Settings } from './settings.ts';

const TIMEOUT = Duration.seconds(60);

/** The document that wakes an agent; the agent stack makes it, under a name that both sides know. */
export const wakeDocumentOf = (settings: Settings): string => `${settings.prefix}-wake`;

/** Wakes on their way to SSM: a queue, and a handler that sends at most two batches of fifty at a time. */
export class Commands extends Construct {
  readonly queue: WorkQueue;
  readonly deadLetters: DeadLetterQueue;
  readonly handler: HandlerFunction;

  constructor(scope: Construct, id: string, defaults: HandlerDefaults) {
    super(scope, id);
    const { settings } = defaults;
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', `${settings.prefix}-commands-dead`, defaults.key);
    this.queue = new WorkQueue(this, 'Outgoing', {
      queueName: `${settings.prefix}-commands`,
      consumerTimeout: TIMEOUT,
      deadLetters: this.deadLetters.queue,
      // A wake is repeated after 1, 4 and 10 minutes; older ones only wake nodes for nothing.
      retention: Duration.hours(1),
      key: defaults.key,
    });
    this.handler = new HandlerFunction(this, 'Handler', {
      ...defaults,
      handler: 'command',
      description: 'Sends the queued wakes through SSM Run Command, up to fifty nodes at once',
      timeout: TIMEOUT,
    });
    this.handler.function.addEventSource(
      new SqsEventSource(this.queue.queue, {
        batchSize: 50,
        maxBatchingWindow: Duration.seconds(1),
        // SendCommand has an unpublished, low limit on requests; two senders stay below it.
        maxConcurrency: 2,
        reportBatchItemFailures: true,
      }),
    );
    this.grantSendCommand(settings);
  }

  /** Queueing a wake. */
  grantQueue({ role }: HandlerFunction): void {
    this.queue.queue.grant(role, 'sqs:SendMessage');
  }

  private grantSendCommand(settings: Settings): void {
    const stack = Stack.of(this);
    const { role } = this.handler;
    const tag = settings.nodeTag;
    const nodes = [
      stack.formatArn({ service: 'ec2', resource: 'instance', resourceName: '*' }),
      stack.formatArn({ service: 'ssm', resource: 'managed-instance', resourceName: '*' }),
    ];
    const document = stack.formatArn({ service: 'ssm', resource: 'document', resourceName: wakeDocumentOf(settings) });
    role.addToPrincipalPolicy(new PolicyStatement({ actions: ['ssm:SendCommand'], resources: [document] }));
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['ssm:SendCommand'],
        resources: nodes,
        ...(tag === undefined ? {} : { conditions: { StringEquals: { [`ssm:resourceTag/${tag.key}`]: tag.value } } }),
      }),
    );
    for (const arn of nodes) {
      acknowledgeWildcard(role, arn, 'Nodes enrol themselves; only the wake document may be sent, to any of them.');
    }
  }
}
