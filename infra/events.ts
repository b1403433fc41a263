import { Duration, Validations } from 'aws-cdk-lib';
import { EventBus, Match, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { EVENT_SOURCE } from '../core/contract/names.ts';
import { wakeDocumentOf } from './commands.ts';
import { type HandlerDefaults, HandlerFunction } from './function.ts';
import { DeadLetterQueue } from './queue.ts';

/** Invocation states that say nothing yet, or nothing that a report would not say better. */
const SILENT_STATUSES = ['Pending', 'InProgress', 'Delayed', 'Cancelling', 'Success'];

const DELIVERY = { retryAttempts: 5, maxEventAge: Duration.minutes(15) } as const;

/** What EC2 says of a machine that we want to hear: it is off, on again, or gone. */
const MACHINE_STATES = ['stopped', 'running', 'terminated'];

/** Our own bus with the event log behind it, and what AWS says about our wakes and the machines. */
export class Events extends Construct {
  readonly bus: EventBus;
  readonly deadLetters: DeadLetterQueue;
  /** Writes the event log. */
  readonly log: HandlerFunction;
  /** Hears of wakes that failed. */
  readonly status: HandlerFunction;
  /** Hears of machines that were stopped, started, terminated or deregistered. */
  readonly lifecycle: HandlerFunction;

  constructor(scope: Construct, id: string, defaults: HandlerDefaults) {
    super(scope, id);
    const { settings } = defaults;
    this.bus = new EventBus(this, 'Bus', { eventBusName: settings.prefix });
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', `${settings.prefix}-events-dead`, defaults.key);
    const failures = this.deadLetters.queue;
    this.log = new HandlerFunction(this, 'Log', {
      ...defaults,
      handler: 'log',
      description: 'Writes each event of the bus to the event log, once',
      timeout: Duration.seconds(15),
      failures,
    });
    this.status = new HandlerFunction(this, 'Status', {
      ...defaults,
      handler: 'status',
      description: 'Hears that a wake failed: brings its next repeat forward and says so in the explanation',
      timeout: Duration.seconds(30),
      failures,
    });
    this.lifecycle = new HandlerFunction(this, 'Lifecycle', {
      ...defaults,
      handler: 'lifecycle',
      description: 'Hears that a machine was stopped, started, terminated or deregistered, or that an alarm rings',
      timeout: Duration.seconds(30),
      failures,
    });
    const lifecycle = [new LambdaFunction(this.lifecycle.function, { ...DELIVERY, deadLetterQueue: failures })];
    new Rule(this, 'MachineStates', {
      description: 'Instances that EC2 stopped, started or terminated',
      eventPattern: {
        source: ['aws.ec2'],
        detailType: ['EC2 Instance State-change Notification'],
        detail: { state: MACHINE_STATES },
      },
      targets: lifecycle,
    });
    new Rule(this, 'AlarmStates', {
      description: 'CloudWatch alarms that changed their state: a group may halt on one (haltOnAlarm)',
      eventPattern: { source: ['aws.cloudwatch'], detailType: ['CloudWatch Alarm State Change'] },
      targets: lifecycle,
    });
    // SSM has no event of its own for this: CloudTrail tells of the call, if the account has a trail.
    new Rule(this, 'Deregistrations', {
      description: 'Managed nodes that were deregistered from SSM',
      eventPattern: {
        source: ['aws.ssm'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: { eventSource: ['ssm.amazonaws.com'], eventName: ['DeregisterManagedInstance'] },
      },
      targets: lifecycle,
    });
    new Rule(this, 'OwnEvents', {
      eventBus: this.bus,
      description: 'Everything Holdoff reports, into its event log',
      eventPattern: { source: [EVENT_SOURCE] },
      targets: [new LambdaFunction(this.log.function, { ...DELIVERY, deadLetterQueue: failures })],
    });
    new Rule(this, 'FailedWakes', {
      description: 'Wakes of this deployment that ended without success',
      eventPattern: {
        source: ['aws.ssm'],
        detailType: ['EC2 Command Invocation Status-change Notification'],
        detail: { 'document-name': [wakeDocumentOf(settings)], status: Match.anythingBut(...SILENT_STATUSES) },
      },
      targets: [new LambdaFunction(this.status.function, { ...DELIVERY, deadLetterQueue: failures })],
    });
    Validations.of(this.bus).acknowledge({
      id: 'Serverless-EventBusDLQ',
      reason: 'Each rule of the bus has a dead-letter queue on its target.',
    });
  }

  /** Putting events on our own bus. */
  grantPut({ role }: HandlerFunction): void {
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['events:PutEvents'], resources: [this.bus.eventBusArn] }),
    );
  }
}
