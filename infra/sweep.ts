import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { SWEEP_MINUTES } from '../core/contract/names.ts';
import { acknowledgeWildcard } from './acknowledge.ts';
import { type HandlerDefaults, HandlerFunction } from './function.ts';

export interface SweepProps extends HandlerDefaults {
  /** Where a sweep goes that failed for good; the next one makes up for it. */
  readonly failures: IQueue;
}

/** Every few minutes: whatever is overdue, as if its timer had fired, and the gauges counted anew. */
export class Sweep extends Construct {
  readonly handler: HandlerFunction;

  constructor(scope: Construct, id: string, props: SweepProps) {
    super(scope, id);
    this.handler = new HandlerFunction(this, 'Handler', {
      ...props,
      handler: 'sweep',
      description: 'Handles what is overdue as if its timer had fired, fills the groups, counts the gauges',
      timeout: Duration.minutes(SWEEP_MINUTES),
      reserved: props.settings.sweepConcurrency,
    });
    this.grantRegistry();
    this.grantAlarms();
    new Rule(this, 'Clock', {
      description: `Every ${SWEEP_MINUTES} minutes`,
      schedule: Schedule.rate(Duration.minutes(SWEEP_MINUTES)),
      targets: [
        new LambdaFunction(this.handler.function, {
          retryAttempts: 0,
          maxEventAge: Duration.minutes(SWEEP_MINUTES),
          deadLetterQueue: props.failures,
        }),
      ],
    });
  }

  /** Asking CloudWatch how the alarms stand that groups listen to. */
  private grantAlarms(): void {
    const { role } = this.handler;
    role.addToPrincipalPolicy(new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] }));
    acknowledgeWildcard(
      role,
      '*',
      'The alarms are named by policies that are put later; this action only reads states.',
    );
  }

  /** Asking SSM whether it still knows a node that has been silent for a day. */
  private grantRegistry(): void {
    const { role } = this.handler;
    role.addToPrincipalPolicy(new PolicyStatement({ actions: ['ssm:DescribeInstanceInformation'], resources: ['*'] }));
    acknowledgeWildcard(role, '*', 'SSM knows no narrower resource for this action, which only lists managed nodes.');
  }
}
