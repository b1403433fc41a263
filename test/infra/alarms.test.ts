import { Match } from 'aws-cdk-lib/assertions';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { METRICS, SWEEP_MINUTES } from '../../core/contract/names.ts';
import { deployed, templateOf } from './deployed.ts';

const folder = new URL('../../docs/runbooks/', import.meta.url);
const { controlPlane } = deployed({ context: { runbooks: 'https://wiki.example/holdoff/' } });
const template = templateOf(controlPlane);

const Dimensions = z.optional(z.array(z.object({ Name: z.string() })));
const MetricStat = z.object({
  Period: z.number(),
  Metric: z.object({ Namespace: z.string(), MetricName: z.string(), Dimensions }),
});
const Alarm = z.object({
  Properties: z.object({
    AlarmName: z.string(),
    AlarmDescription: z.string(),
    AlarmActions: z.array(z.unknown()),
    OKActions: z.array(z.unknown()),
    Namespace: z.optional(z.string()),
    MetricName: z.optional(z.string()),
    Dimensions,
    Metrics: z.optional(z.array(z.object({ MetricStat: z.optional(MetricStat) }))),
    EvaluationPeriods: z.number(),
    DatapointsToAlarm: z.number(),
    TreatMissingData: z.enum(['notBreaching', 'breaching', 'ignore']),
  }),
});
const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(
  (it: unknown) => Alarm.parse(it).Properties,
);
const nameOf = (alarm: { AlarmName: string }): string => alarm.AlarmName.replace(/^holdoff-/, '');

describe('every alarm', () => {
  test('has a runbook of its name, and every runbook an alarm', () => {
    const runbooks = readdirSync(folder).map((file) => file.replace(/\.md$/, ''));
    // To restore is a person's decision: no alarm leads there.
    expect(runbooks.toSorted()).toEqual([...alarms.map(nameOf), 'restore'].toSorted());
  });

  test.each(alarms.map((alarm) => [nameOf(alarm), alarm] as const))(
    '%s says what to do and where to read on',
    (name, alarm) => {
      expect(alarm.AlarmDescription).toMatch(/^[A-Z].{40,}\. Rings within \d+ minutes\. Runbook: /);
      expect(alarm.AlarmDescription.endsWith(` https://wiki.example/holdoff/${name}.md`)).toBe(true);
      expect(alarm.AlarmDescription.length).toBeLessThan(400);
      expect(alarm.AlarmActions).toHaveLength(1);
      expect(alarm.OKActions).toHaveLength(1);
    },
  );

  test.each(alarms.map((alarm) => [nameOf(alarm)] as const))('the runbook of %s has its four parts', (name) => {
    const file = new URL(`${name}.md`, folder);
    expect(existsSync(file)).toBe(true);
    const headings = readFileSync(file, 'utf8').match(/^#+ .+$/gm);
    expect(headings).toEqual([`# ${name}`, '## What it means', '## Look at', '## Do', '## Do not']);
  });

  test('needs more than one datapoint, dead letters apart: embedded metrics arrive late', () => {
    const single = alarms.filter(({ DatapointsToAlarm }) => DatapointsToAlarm === 1).map(nameOf);
    expect(single.toSorted()).toEqual(['commands-dead-letters', 'events-dead-letters', 'timers-dead-letters']);
  });

  test('has no dimension that grows with the fleet', () => {
    const bounded = ['TableName', 'GlobalSecondaryIndexName', 'FunctionName', 'QueueName', 'ApiId', 'ScheduleGroup'];
    const used = alarms.flatMap(({ Dimensions: own, Metrics: math }) => [
      ...(own ?? []),
      ...(math ?? []).flatMap(({ MetricStat: stat }) => stat?.Metric.Dimensions ?? []),
    ]);
    expect(new Set(used.map(({ Name }) => Name))).toEqual(new Set(bounded));
  });
});

describe('missing data', () => {
  test('is an alarm for the heartbeat alone', () => {
    expect(alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching').map(nameOf)).toEqual([
      'sweep-missing',
    ]);
  });

  test('the heartbeat is looked for over several sweeps', () => {
    const heartbeat = alarms.find((alarm) => nameOf(alarm) === 'sweep-missing');
    const seconds = (heartbeat?.Metrics?.[0]?.MetricStat?.Period ?? 0) * (heartbeat?.EvaluationPeriods ?? 0);
    expect(seconds).toBeGreaterThanOrEqual(3 * SWEEP_MINUTES * 60);
  });
});

test('every metric of Holdoff is watched by an alarm', () => {
  const watched = alarms.flatMap(({ Namespace, MetricName, Metrics: math }) => [
    ...(Namespace === 'Holdoff/holdoff' && MetricName !== undefined ? [MetricName] : []),
    ...(math ?? []).flatMap(({ MetricStat: stat }) =>
      stat?.Metric.Namespace === 'Holdoff/holdoff' ? [stat.Metric.MetricName] : [],
    ),
  ]);
  expect(new Set(watched)).toEqual(new Set(METRICS));
});

test('CloudWatch may publish to the topic', () => {
  template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Effect: 'Allow',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Action: 'sns:Publish',
          Condition: Match.objectLike({ ArnLike: Match.anyValue() }),
        }),
      ]),
    },
  });
});

describe('where no address of the runbooks is given', { timeout: 120_000 }, () => {
  test('an alarm mail leads to a dashboard of the account that has them, in any partition', () => {
    const here = templateOf(deployed().controlPlane);
    here.hasResourceProperties('AWS::CloudWatch::Alarm', {
      AlarmName: 'holdoff-gave-up',
      AlarmDescription: {
        'Fn::Join': [
          '',
          [
            Match.stringLikeRegexp('Runbook: gave-up in https://$'),
            { 'Fn::FindInMap': [Match.anyValue(), { Ref: 'AWS::Partition' }, 'host'] },
            '/cloudwatch/home?region=',
            { Ref: 'AWS::Region' },
            '#dashboards/dashboard/holdoff-runbooks',
          ],
        ],
      },
    });
    here.hasResourceProperties('AWS::CloudWatch::Dashboard', {
      DashboardName: 'holdoff-runbooks',
      DashboardBody: Match.stringLikeRegexp('# gave-up'),
    });
    const { Mappings } = z.object({ Mappings: z.record(z.string(), z.unknown()) }).parse(here.toJSON());
    expect(Object.values(Mappings)).toContainEqual(
      expect.objectContaining({ aws: { host: 'console.aws.amazon.com' } }),
    );
  });
});
