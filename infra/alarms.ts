import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { MetricName } from '../core/contract/names.ts';
import * as metrics from './metrics.ts';
import type { RunbookPages } from './runbook-pages.ts';
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
  /** It rings at the latest so many minutes after a person is needed; test/infra/alarm-days.test.ts holds it to that. */
  readonly withinMinutes: number;
  /** What has happened and what to do first. */
  readonly says: string;
}

const { NOT_BREACHING, BREACHING, IGNORE } = TreatMissingData;
const QUARTER = Duration.minutes(15);

/** Every alarm of a deployment. Counters that are silent are fine; a gauge that is silent leaves the state as it was. */
function rulesOf(watched: Watched): Record<string, AlarmRule> {
  const own = (name: MetricName, statistic: string, period?: Duration): IMetric =>
    metrics.own(watched.settings, name, statistic, period);
  const dead = { threshold: 1, datapoints: 1, of: 1, missing: NOT_BREACHING, withinMinutes: 10 };
  /** State that the sweep counts anew from the records: there for a quarter of an hour without a break. */
  const state = (gauge: MetricName): Omit<AlarmRule, 'says'> => ({
    metric: own(gauge, 'Minimum'),
    threshold: 1,
    datapoints: 3,
    of: 3,
    missing: IGNORE,
    withinMinutes: 25,
  });
  const counter = { datapoints: 2, of: 3, missing: NOT_BREACHING };
  return {
    'node-crashes': {
      ...counter,
      metric: own('NodeCrash', 'Sum', QUARTER),
      threshold: 5,
      withinMinutes: 50,
      says: 'Updates of nodes fail again and again. Pause the group if they fail on the same version.',
    },
    'vm-failures': {
      ...counter,
      metric: metrics.vmFailures(watched.settings, QUARTER),
      threshold: 20,
      withinMinutes: 50,
      says: 'Many VMs fail to start or die early. Look for what they have in common: a host, an image, a network.',
    },
    'vms-in-crash-loop': {
      ...state('VmsInCrashLoop'),
      says: 'A VM failed three times in a row and has not been stable since. Read its last failure, repair or stop it.',
    },
    'nodes-backing-off': {
      ...state('NodesBackingOff'),
      says: 'A node has three crashes on record. Read its last error, and repair or hold it.',
    },
    'gave-up': {
      ...state('GaveUp'),
      says: 'A node or VM gave up, as its policy says: nothing is tried again before a person says so.',
    },
    'nodes-blocked': {
      ...state('NodesBlocked'),
      says: 'A node fell back from a version, which is blocked there now. Find out why it did not boot or was unhealthy.',
    },
    'breakers-open': {
      ...state('BreakersOpen'),
      says: 'Nodes of a group crashed on one version, and nobody takes it there any more. Find out what is wrong with it.',
    },
    'nodes-unreachable': {
      ...state('NodesUnreachable'),
      says: 'A node went silent in the middle of a step and keeps its slot. Find out whether the machine is alive.',
    },
    'nodes-silent': {
      ...state('NodesSilent'),
      says: 'A node at rest has not reported for 90 minutes or more. Find out whether its agent runs and can sign.',
    },
    'timers-late': {
      metric: own('TimerLatenessMs', 'p99'),
      threshold: 90_000,
      datapoints: 3,
      of: 5,
      missing: NOT_BREACHING,
      withinMinutes: 25,
      says: 'Waits end more than 90 seconds late. Look for throttles and for a backlog of the vernier queue.',
    },
    'timers-lost': {
      ...counter,
      metric: metrics.timersLost(watched),
      threshold: 1,
      withinMinutes: 20,
      says: 'EventBridge Scheduler cannot wake the timer handler. The sweep stands in; find out what it was refused.',
    },
    'sweep-missing': {
      metric: own('SweepCompleted', 'Sum'),
      threshold: 1,
      below: true,
      datapoints: 3,
      of: 3,
      missing: BREACHING,
      withinMinutes: 25,
      says: 'No sweep has completed for 15 minutes: nothing repairs lost timers and no gauge is fresh. Read its log.',
    },
    'sweep-failures': {
      metric: own('SweepFailures', 'Sum'),
      threshold: 1,
      datapoints: 3,
      of: 3,
      missing: NOT_BREACHING,
      withinMinutes: 25,
      says: 'Something fails in every sweep: an item that cannot be read, or a write that is refused. Its log names it.',
    },
    'timers-dead-letters': {
      ...dead,
      metric: metrics.depth(watched.timers.deadLetters.queue, 'Dead letters of timers'),
      says: 'Timers failed for good. Read one and repair the cause; the sweep does the same work.',
    },
    'commands-dead-letters': {
      ...dead,
      metric: metrics.depth(watched.commands.deadLetters.queue, 'Dead letters of commands'),
      says: 'Wakes could not be sent. Read one, repair the cause; the wakes repeat by themselves.',
    },
    'events-dead-letters': {
      ...dead,
      metric: metrics.depth(watched.events.deadLetters.queue, 'Dead letters of events'),
      says: 'Events were not logged or a sweep failed. Read one, and repair the cause.',
    },
    'commands-backlog': {
      metric: metrics.age(watched.commands.queue.queue, 'Oldest wake in seconds'),
      threshold: 300,
      datapoints: 3,
      of: 3,
      missing: NOT_BREACHING,
      withinMinutes: 25,
      says: 'Wakes wait for more than five minutes before SSM takes them. Look for SSM throttling.',
    },
    'function-errors': {
      ...counter,
      metric: metrics.functionErrors(watched.handlers),
      threshold: 5,
      withinMinutes: 20,
      says: 'Handlers fail. See on the dashboard which, and read its log; after a deployment roll back first.',
    },
    'function-throttles': {
      ...counter,
      metric: metrics.functionThrottles(watched.handlers),
      threshold: 10,
      withinMinutes: 20,
      says: 'The account has no concurrency left for the handlers. Find who uses it, or ask for a higher limit.',
    },
    'table-throttles': {
      ...counter,
      metric: metrics.tableThrottles(watched),
      threshold: 10,
      withinMinutes: 20,
      says: 'The table refuses requests: its fuse is reached or one key is too hot. See which index, and the fuse.',
    },
    'api-errors': {
      ...counter,
      metric: metrics.apiErrorPercent(watched),
      threshold: 5,
      withinMinutes: 20,
      says: 'One request in twenty ends in a 5xx. Read the access log and the log of the api handler.',
    },
  };
}

/** All alarms, and the topic that tells people. */
export class Alarms extends Construct {
  readonly topic: Topic;
  /** Every alarm by its name without the prefix, which is the name of its runbook. */
  readonly byName: Readonly<Record<string, Alarm>>;

  constructor(scope: Construct, id: string, watched: Watched, pages?: RunbookPages) {
    super(scope, id);
    const { settings } = watched;
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
    const runbook = (name: string): string =>
      pages === undefined ? `${settings.runbooks ?? ''}${name}.md` : `${name} in ${pages.address}`;
    const action = new SnsAction(this.topic);
    this.byName = Object.fromEntries(
      Object.entries(rulesOf(watched)).map(([name, rule]) => {
        const alarm = new Alarm(this, name, {
          alarmName: `${settings.prefix}-${name}`,
          alarmDescription: `${rule.says} Rings within ${rule.withinMinutes} minutes. Runbook: ${runbook(name)}`,
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
