/** Days of metrics, and what each alarm, as it is in the template, makes of them. */
import * as z from 'zod/mini';
import { deployed, templateOf } from './deployed.ts';

const MetricStat = z.object({
  Period: z.number(),
  Stat: z.string(),
  Metric: z.object({ Namespace: z.string(), MetricName: z.string() }),
});
const Definition = z.object({
  Properties: z.object({
    AlarmName: z.string(),
    AlarmDescription: z.string(),
    Threshold: z.number(),
    ComparisonOperator: z.enum(['GreaterThanOrEqualToThreshold', 'LessThanThreshold']),
    EvaluationPeriods: z.number(),
    DatapointsToAlarm: z.number(),
    TreatMissingData: z.enum(['notBreaching', 'breaching', 'ignore']),
    Namespace: z.optional(z.string()),
    MetricName: z.optional(z.string()),
    Period: z.optional(z.number()),
    Statistic: z.optional(z.string()),
    ExtendedStatistic: z.optional(z.string()),
    Metrics: z.optional(
      z.array(z.object({ Id: z.string(), Expression: z.optional(z.string()), MetricStat: z.optional(MetricStat) })),
    ),
  }),
});
export type Alarm = z.infer<typeof Definition>['Properties'];

/** The alarms of the template, by name. */
export function alarmsOf(): Map<string, Alarm> {
  const runbooks = 'https://wiki.example/';
  const template = templateOf(deployed({ context: { runbooks } }).controlPlane);
  return new Map(
    Object.values(template.findResources('AWS::CloudWatch::Alarm')).map((it: unknown) => {
      const alarm = Definition.parse(it).Properties;
      return [alarm.AlarmName.replace(/^holdoff-/, ''), alarm] as const;
    }),
  );
}

/** Within how many minutes its own text says that it rings. */
export const promised = (alarm: Alarm): number =>
  Number(/Rings within (\d+) minutes/.exec(alarm.AlarmDescription)?.[1] ?? Number.NaN);

/** What is sent of one metric at a second of the day; nothing where nothing is sent. */
type Sent = (second: number) => number | null;
const DAY = 86_400;
export const MINUTE = 60;
/** Data are sent at whole minutes. */
const minutesOf = (from: number, to: number): number[] =>
  Array.from({ length: Math.ceil((to - from) / MINUTE) }, (_, i) => from + i * MINUTE);

function statistic(name: string, values: readonly number[]): number | null {
  if (values.length === 0) return null;
  if (name === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  return name === 'Minimum' ? Math.min(...values) : Math.max(...values);
}

const periodOf = (alarm: Alarm): number =>
  alarm.Period ?? Math.max(...(alarm.Metrics ?? []).map(({ MetricStat: stat }) => stat?.Period ?? 0));

/** The datapoint of a period, as CloudWatch makes it: a statistic of one metric, or the alarm's own expression. */
function datapoint(alarm: Alarm, sent: (metric: string) => Sent, from: number): number | null {
  const period = periodOf(alarm);
  const of = (metric: string, stat: string): number | null =>
    statistic(
      stat,
      minutesOf(from, from + period).flatMap((second) => sent(metric)(second) ?? []),
    );
  if (alarm.MetricName !== undefined) {
    return of(alarm.MetricName, alarm.Statistic ?? alarm.ExtendedStatistic ?? 'Maximum');
  }
  const parts = new Map(
    (alarm.Metrics ?? []).flatMap(({ Id, MetricStat: stat }) =>
      stat === undefined ? [] : [[Id, of(stat.Metric.MetricName, stat.Stat) ?? 0] as const],
    ),
  );
  const expression = alarm.Metrics?.find((it) => it.Expression !== undefined)?.Expression ?? '';
  if (expression.startsWith('IF(')) {
    const [requests = 0, failed = 0] = [parts.get('requests'), parts.get('failed')];
    return requests > 20 ? (100 * failed) / requests : 0;
  }
  if (!/^(?:FILL\(\w+, 0\)(?: \+ )?)+$/.test(expression) && parts.size !== 1) throw new Error(`unknown: ${expression}`);
  return [...parts.values()].reduce((sum, value) => sum + value, 0);
}

/** Seconds at which the alarm goes into ALARM. */
export function rings(alarm: Alarm, sent: (metric: string) => Sent, until = DAY): number[] {
  const period = periodOf(alarm);
  const breaches = (value: number): boolean =>
    alarm.ComparisonOperator === 'LessThanThreshold' ? value < alarm.Threshold : value >= alarm.Threshold;
  const judged: (boolean | null)[] = [];
  const found: number[] = [];
  let ringing = false;
  for (let from = 0; from < until; from += period) {
    const value = datapoint(alarm, sent, from);
    judged.push(
      value === null
        ? alarm.TreatMissingData === 'ignore'
          ? null
          : alarm.TreatMissingData === 'breaching'
        : breaches(value),
    );
    const window = judged.slice(-alarm.EvaluationPeriods);
    if (window.length < alarm.EvaluationPeriods || window.every((it) => it === null)) continue;
    const alarmed = window.filter((it) => it === true).length >= alarm.DatapointsToAlarm;
    if (alarmed && !ringing) found.push(from + period);
    ringing = alarmed;
  }
  return found;
}

const HOUR = 3600;
export const TROUBLE = 8 * HOUR + 7 * MINUTE;
const inTrouble = (second: number): boolean => second >= TROUBLE && second < TROUBLE + 4 * HOUR;
const everySweep = (second: number): boolean => second % (3 * MINUTE) === 0;
const gauge =
  (value: (second: number) => number): Sent =>
  (second) =>
    everySweep(second) ? value(second) : null;
const counted = (value: (second: number) => number | null): Sent => value;

/** What each alarm's metric looks like on a day with four hours of trouble, and on a day when nobody is needed. */
export const DAYS: Readonly<Record<string, { metric: string; bad: Sent; calm: Sent }>> = {
  'node-crashes': {
    metric: 'NodeCrash',
    bad: counted((s) => (inTrouble(s) && s % (2 * MINUTE) === 0 ? 1 : null)),
    calm: counted((s) => (s % HOUR === 0 ? 1 : null)),
  },
  'vm-failures': {
    metric: 'VmStartFailure',
    bad: counted((s) => (inTrouble(s) ? 2 : null)),
    calm: counted((s) => (s % (5 * MINUTE) === 0 ? 1 : null)),
  },
  ...Object.fromEntries(
    [
      ['vms-in-crash-loop', 'VmsInCrashLoop'],
      ['nodes-backing-off', 'NodesBackingOff'],
      ['gave-up', 'GaveUp'],
      ['nodes-blocked', 'NodesBlocked'],
      ['breakers-open', 'BreakersOpen'],
      ['nodes-unreachable', 'NodesUnreachable'],
      ['nodes-silent', 'NodesSilent'],
    ].map(([name = '', metric = '']) => [
      name,
      {
        metric,
        bad: gauge((s) => (inTrouble(s) ? 1 : 0)),
        // It happens, and is over by itself within ten minutes.
        calm: gauge((s) => (s % HOUR < 10 * MINUTE ? 1 : 0)),
      },
    ]),
  ),
  'timers-late': {
    metric: 'TimerLatenessMs',
    bad: counted((s) => (inTrouble(s) ? 120_000 : 2000)),
    calm: counted((s) => (s % HOUR === 0 ? 95_000 : 60_000)),
  },
  'timers-lost': {
    metric: 'InvocationDroppedCount',
    bad: counted((s) => (inTrouble(s) ? 1 : null)),
    calm: counted((s) => (s % HOUR === 0 ? 1 : null)),
  },
  'sweep-missing': {
    metric: 'SweepCompleted',
    bad: counted((s) => (everySweep(s) && !inTrouble(s) ? 1 : null)),
    calm: counted((s) => (everySweep(s) && s % HOUR !== 0 ? 1 : null)),
  },
  'sweep-failures': {
    metric: 'SweepFailures',
    bad: gauge((s) => (inTrouble(s) ? 1 : 0)),
    calm: gauge((s) => (s % HOUR === 0 ? 3 : 0)),
  },
  ...Object.fromEntries(
    ['timers', 'commands', 'events'].map((queue) => [
      `${queue}-dead-letters`,
      {
        metric: 'ApproximateNumberOfMessagesVisible',
        bad: counted((s) => (inTrouble(s) ? 1 : 0)),
        calm: counted(() => 0),
      },
    ]),
  ),
  'commands-backlog': {
    metric: 'ApproximateAgeOfOldestMessage',
    bad: counted((s) => (inTrouble(s) ? 400 : 1)),
    calm: counted((s) => (s % HOUR < 5 * MINUTE ? 310 : 2)),
  },
  'function-errors': {
    metric: 'Errors',
    bad: counted((s) => (inTrouble(s) ? 1 : null)),
    calm: counted((s) => (s % HOUR === 0 ? 4 : null)),
  },
  'function-throttles': {
    metric: 'Throttles',
    bad: counted((s) => (inTrouble(s) ? 3 : null)),
    calm: counted((s) => (s % HOUR === 0 ? 9 : null)),
  },
  'table-throttles': {
    metric: 'WriteThrottleEvents',
    bad: counted((s) => (inTrouble(s) ? 5 : null)),
    calm: counted(() => null),
  },
  'api-errors': {
    metric: '5xx',
    bad: counted((s) => (inTrouble(s) ? 10 : null)),
    calm: counted((s) => (s % HOUR === 0 ? 1 : null)),
  },
};

/** Requests go on all day; all else that an alarm reads is silent. */
export const day =
  (metric: string, sent: Sent) =>
  (name: string): Sent =>
    name === metric ? sent : name === 'Count' ? () => 100 : () => null;

/** A row for each alarm: of what it is, when it should have rung and when it did, in minutes after the trouble began. */
export const alarmRows = (): string[] =>
  [...alarmsOf()]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, alarm]) => {
      const { metric, bad, calm } = DAYS[name] ?? NO_DAYS;
      const minutes = rings(alarm, day(metric, bad)).map((second) => Math.ceil((second - TROUBLE) / MINUTE));
      const silent = rings(alarm, day(metric, calm)).length;
      return `| [${name}](runbooks/${name}.md) | \`${metric}\` | ${promised(alarm)} min | ${minutes.join(', ')} min | ${silent} times |`;
    });
const NO_DAYS = { metric: '', bad: () => null, calm: () => null };
