import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { metricNamespace, type MetricName } from '../core/contract/names.ts';
import { TABLE } from '../core/contract/table.ts';
import type { HandlerFunction } from './function.ts';
import type { Settings } from './settings.ts';
import type { Watched } from './watched.ts';

/** Alarms and dashboard look at the same numbers, defined here once. All without a dimension of an id. */

export const FIVE_MINUTES = Duration.minutes(5);

export const namespaceOf = ({ prefix }: Settings): string => metricNamespace(prefix);

/** One of Holdoff's own metrics, over the whole deployment. */
export const own = (settings: Settings, metricName: MetricName, statistic: string, period = FIVE_MINUTES): Metric =>
  new Metric({ namespace: namespaceOf(settings), metricName, statistic, period, label: metricName });

/** Several metrics that count the same kind of thing, as one number; what was not reported counts nothing. */
function sum(label: string, metrics: readonly IMetric[], period: Duration): MathExpression {
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
  const expression = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`);
  return new MathExpression({ label, expression: expression.join(' + '), usingMetrics, period });
}

export const vmFailures = (settings: Settings, period: Duration): MathExpression =>
  sum(
    'VM failures',
    [own(settings, 'VmStartFailure', 'Sum', period), own(settings, 'VmUnstableRun', 'Sum', period)],
    period,
  );

export const functionErrors = (handlers: readonly HandlerFunction[]): MathExpression =>
  sum(
    'Errors',
    handlers.map(({ function: it }) => it.metricErrors({ period: FIVE_MINUTES })),
    FIVE_MINUTES,
  );

export const functionThrottles = (handlers: readonly HandlerFunction[]): MathExpression =>
  sum(
    'Throttles',
    handlers.map(({ function: it }) => it.metricThrottles({ period: FIVE_MINUTES })),
    FIVE_MINUTES,
  );

export const depth = (queue: IQueue, label: string): Metric =>
  queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: FIVE_MINUTES, label });

export const age = (queue: IQueue, label: string): Metric =>
  queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: FIVE_MINUTES, label });

const throttled = (tableName: string, metricName: string, index?: string): Metric =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: tableName, ...(index === undefined ? {} : { GlobalSecondaryIndexName: index }) },
    statistic: 'Sum',
    period: FIVE_MINUTES,
    label: index ?? metricName,
  });

/** Throttled reads and writes of the table, and of its indexes (a throttled index holds up the table's writes). */
export function tableThrottles({ table }: Watched): MathExpression {
  const name = table.table.tableName;
  const indexes = Object.keys(TABLE.indexes).map((index) => throttled(name, 'WriteThrottleEvents', index));
  const ofTable = [throttled(name, 'ReadThrottleEvents'), throttled(name, 'WriteThrottleEvents')];
  return sum('Throttled requests', [...ofTable, ...indexes], FIVE_MINUTES);
}

/** Schedules that Scheduler could not hand over, or gave up. */
export function timersLost({ timers: { group } }: Watched): MathExpression {
  const options = { statistic: 'Sum', period: FIVE_MINUTES };
  return sum('Lost timers', [group.metricDropped(options), group.metricTargetErrors(options)], FIVE_MINUTES);
}

/** Requests that ended in a 5xx, in percent; nothing while there are hardly any requests. */
export function apiErrorPercent({ api: { api } }: Watched): MathExpression {
  return new MathExpression({
    label: '5xx in percent',
    expression: 'IF(FILL(requests, 0) > 20, 100 * FILL(failed, 0) / requests, 0)',
    usingMetrics: {
      requests: api.metricCount({ statistic: 'Sum', period: FIVE_MINUTES }),
      failed: api.metricServerError({ statistic: 'Sum', period: FIVE_MINUTES }),
    },
    period: FIVE_MINUTES,
  });
}
