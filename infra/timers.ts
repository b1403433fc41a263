import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { ScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import { type HandlerDefaults, HandlerFunction, functionNameOf } from './function.ts';
import { grantKey } from './key.ts';
import { DeadLetterQueue, WorkQueue } from './queue.ts';

const TIMEOUT = Duration.seconds(30);

/** One-shot schedules for any wait, the vernier queue for short ones, and the handler that both wake. */
export class Timers extends Construct {
  readonly group: ScheduleGroup;
  readonly groupName: string;
  readonly schedulerRole: Role;
  readonly vernier: WorkQueue;
  readonly deadLetters: DeadLetterQueue;
  readonly handler: HandlerFunction;
  /** The handler's ARN spelt out: its own environment holds it, so it cannot be a reference. */
  readonly targetArn: string;

  constructor(scope: Construct, id: string, defaults: HandlerDefaults) {
    super(scope, id);
    const { settings } = defaults;
    this.groupName = settings.prefix;
    this.group = new ScheduleGroup(this, 'Group', {
      scheduleGroupName: this.groupName,
      // Every schedule is rebuilt from the table, so nothing is lost with the group.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', `${settings.prefix}-timers-dead`, defaults.key);
    this.handler = new HandlerFunction(this, 'Handler', {
      ...defaults,
      handler: 'timer',
      description: 'Woken by a one-shot schedule or the vernier queue: decides what a wait was for, and arms the next',
      timeout: TIMEOUT,
      failures: this.deadLetters.queue,
      reserved: settings.timerConcurrency,
    });
    this.vernier = new WorkQueue(this, 'Vernier', {
      queueName: `${settings.prefix}-vernier`,
      consumerTimeout: TIMEOUT,
      deadLetters: this.deadLetters.queue,
      // A vernier is for waits of up to 15 minutes; an hour later the schedule and the sweep have long acted.
      retention: Duration.hours(1),
      key: defaults.key,
    });
    this.handler.function.addEventSource(
      new SqsEventSource(this.vernier.queue, {
        batchSize: 10,
        // No window: a vernier is there to be exact.
        maxBatchingWindow: Duration.seconds(0),
        maxConcurrency: 50,
        reportBatchItemFailures: true,
      }),
    );
    const stack = Stack.of(this);
    this.targetArn = stack.formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: functionNameOf(settings, 'timer'),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    this.schedulerRole = new Role(this, 'SchedulerRole', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: {
          StringEquals: { 'aws:SourceAccount': stack.account },
          ArnEquals: { 'aws:SourceArn': this.group.scheduleGroupArn },
        },
      }),
      description: 'Lets the schedules of this deployment wake the timer handler, and nothing else',
    });
    if (defaults.key !== null) grantKey(this.schedulerRole, defaults.key);
    new Policy(this, 'SchedulerPolicy', {
      roles: [this.schedulerRole],
      statements: [
        new PolicyStatement({
          actions: ['lambda:InvokeFunction'],
          resources: [this.handler.function.functionArn],
        }),
        new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.deadLetters.queue.queueArn] }),
      ],
    });
  }

  /** Arming schedules in this deployment's group, with this deployment's role, and verniers. */
  grantArm({ role }: HandlerFunction): void {
    const schedules = Stack.of(this).formatArn({
      service: 'scheduler',
      resource: 'schedule',
      resourceName: `${this.groupName}/*`,
    });
    role.addToPrincipalPolicy(new PolicyStatement({ actions: ['scheduler:CreateSchedule'], resources: [schedules] }));
    acknowledgeWildcard(
      role,
      schedules,
      'A schedule is named by a hash: any name, but only in the group of this deployment.',
    );
    role.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['iam:PassRole'],
        resources: [this.schedulerRole.roleArn],
        conditions: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
      }),
    );
    this.vernier.queue.grant(role, 'sqs:SendMessage');
  }
}
