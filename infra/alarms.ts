import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import * as metrics from './metrics.ts';
import type { Settings } from './settings.ts';
import type { Watched } from './watched.ts';

/** One alarm: its name is also the name of its runbook. */
interface AlarmRule {
  readonly metric: IMetric;
  /** Fires at this value or above it; with `below`, under it. */
  readonly threshold: number;
  readonly below?: true;
  /** So many datapoints … */
  readonly datapoints: number;
  /** … out of so many. More than one, because embedded metrics arrive late and in pieces. */
  readonly of: number;
  readonly missing: TreatMissingData;
  /** What has happened and what to do first. */
  readonly says: string;
}

const { NOT_BREACHING, BREACHING, IGNORE } = TreatMissingData;

/** Every alarm of a deployment. Counters that are silent are fine; a gauge that is silent leaves the state as it was. */
function rulesOf(watched: Watched): Record<string, AlarmRule> {
  const { own } = metrics;
  const dead = { threshold: 1, datapoints: 1, of: 1, missing: NOT_BREACHING };
  return {
    'node-crashes': {
      metric: own('NodeCrash', 'Sum', Duration.minutes(15)),
      threshold: 5,
      datapoints: 2,
      of: 3,
      missing: NOT_BREACHING,
      says: 'Updates of nodes fail again and again. Pause the group if they fail on the same version.',
    },
    'vm-failures': {
      metric: metrics.vmFailures(Duration.minutes(15)),
      threshold: 20,
      datapoints: 2,
      of: 3,
      missing: NOT_BREACHING,
      says: 'Many VMs fail to start or die early. Look for what they have in common: a host, an image, a network.',
    },
    'vms-in-crash-loop': {
      metric: own('VmsInCrashLoop', 'Minimum'),
      threshold: 1,
      datapoints: 6,
      of: 6,
      missing: IGNORE,
      says: 'A VM has been in CrashLoopBackOff for 30 minutes. Read its last failure, and repair or stop it.',
    },
    'nodes-backing-off': {
      metric: own('NodesBackingOff', 'Minimum', Duration.hours(1)),
      threshold: 1,
      datapoints: 4,
      of: 4,
      missing: IGNORE,
      says: 'A node has been waiting for another attempt for four hours. Read its last error, and repair or hold it.',
    },
    'nodes-unreachable': {
      metric: own('NodesUnreachable', 'Minimum'),
      threshold: 1,
      datapoints: 3,
      of: 3,
      missing: IGNORE,
      says: 'A node went silent in the middle of a step and keeps its slot. Find out whether the machine is alive.',
    },
    'nodes-silent': {
      metric: own('NodesSilent', 'Minimum'),
      threshold: 1,
      datapoints: 3,
      of: 3,
      missing: IGNORE,
      says: 'A node at rest has not reported for an hour or more. Find out whether its agent runs and can sign.',
    },
    'timers-late': {
      metric: own('TimerLatenessMs', 'p99'),
      threshold: 90_000,
      datapoints: 3,
      of: 5,
      missing: NOT_BREACHING,
      says: 'Waits end more than 90 seconds late. Look for throttles and for a backlog of the vernier queue.',
    },
    'timers-lost': {
      metric: metrics.timersLost(watched),
      threshold: 1,
      datapoints: 2,
      of: 3,
      missing: NOT_BREACHING,
      says: 'EventBridge Scheduler cannot wake the timer handler. The sweep stands in; find out what it was refused.',
    },
    'sweep-missing': {
      metric: own('SweepCompleted', 'Sum'),
      threshold: 1,
      below: true,
      datapoints: 3,
      of: 3,
      missing: BREACHING,
      says: 'No sweep has completed for 15 minutes: nothing repairs lost timers and no gauge is fresh. Read its log.',
    },
    'timers-dead-letters': {
      ...dead,
      metric: metrics.depth(watched.timers.deadLetters.queue, 'Dead letters of timers'),
      says: 'Timers failed for good. Read one, repair the cause, then drive the queue again.',
    },
    'commands-dead-letters': {
      ...dead,
      metric: metrics.depth(watched.commands.deadLetters.queue, 'Dead letters of commands'),
      says: 'Wakes could not be sent. Read one, repair the cause; the wakes repeat by themselves.',
    },
    'events-dead-letters': {
      ...dead,
      metric: metrics.depth(watched.events.deadLetters.queue, 'Dead letters of events'),
      says: 'Events were not logged or a sweep failed. Read one, repair the cause, then drive the queue again.',
    },
    'commands-backlog': {
      metric: metrics.age(watched.commands.queue.queue, 'Oldest wake in seconds'),
      threshold: 300,
      datapoints: 3,
      of: 3,
      missing: NOT_BREACHING,
      says: 'Wakes wait for more than five minutes before SSM takes them. Look for SSM throttling.',
    },
    'function-errors': {
      metric: metrics.functionErrors(watched.handlers),
      threshold: 5,
      datapoints: 2,
      of: 3,
      missing: NOT_BREACHING,
      says: 'Handlers fail. See on the dashboard which, and read its log; after a deployment roll back first.',
    },
    'function-throttles': {
      metric: metrics.functionThrottles(watched.handlers),
      threshold: 10,
      datapoints: 2,
      of: 3,
      missing: NOT_BREACHING,
      says: 'The account has no concurrency left for the handlers. Find who uses it, or ask for a higher limit.',
    },
    'table-throttles': {
      metric: metrics.tableThrottles(watched),
      threshold: 10,
      datapoints: 2,
      of: 3,
      missing: NOT_BREACHING,
      says: 'The table refuses requests: its fuse is reached or one key is too hot. See which index, and the fuse.',
    },
    'api-errors': {
      metric: metrics.apiErrorPercent(watched),
      threshold: 5,
      datapoints: 2,
      of: 3,
      missing: NOT_BREACHING,
      says: 'One request in twenty ends in a 5xx. Read the access log and the log of the api handler.',
    },
  };
}

/** All alarms, and the topic that tells people. */
export class Alarms extends Construct {
  readonly topic: Topic;
  /** Every alarm by its name without the prefix, which is the name of its runbook. */
  readonly byName: Readonly<Record<string, Alarm>>;

  constructor(scope: Construct, id: string, watched: Watched, settings: Settings) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', {
      topicName: `${settings.prefix}-alarms`,
      displayName: 'Holdoff alarms',
      enforceSSL: true,
    });
    // A topic with any policy of its own loses the default that let CloudWatch in.
    const { partition, region, account } = Stack.of(this);
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: {
          StringEquals: { 'aws:SourceAccount': account },
          ArnLike: { 'aws:SourceArn': `arn:${partition}:cloudwatch:${region}:${account}:alarm:${settings.prefix}-*` },
        },
      }),
    );
    if (settings.alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(settings.alarmEmail));
    const action = new SnsAction(this.topic);
    this.byName = Object.fromEntries(
      Object.entries(rulesOf(watched)).map(([name, rule]) => {
        const alarm = new Alarm(this, name, {
          alarmName: `${settings.prefix}-${name}`,
          alarmDescription: `${rule.says} Runbook: ${settings.runbooks}${name}.md`,
          metric: rule.metric,
          threshold: rule.threshold,
          comparisonOperator:
            rule.below === true
              ? ComparisonOperator.LESS_THAN_THRESHOLD
              : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
          datapointsToAlarm: rule.datapoints,
          evaluationPeriods: rule.of,
          treatMissingData: rule.missing,
        });
        alarm.addAlarmAction(action);
        alarm.addOkAction(action);
        return [name, alarm];
      }),
    );
    Validations.of(this.topic).acknowledge({
      id: 'Serverless-SNSRedrivePolicy',
      reason: 'Subscribers are e-mail addresses: a message that cannot be delivered is still an alarm in CloudWatch.',
    });
  }
}
