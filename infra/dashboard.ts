import {
  AlarmStatusWidget,
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  SingleValueWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { MetricName } from '../core/contract/names.ts';
import type { HandlerFunction } from './function.ts';
import type { Alarms } from './alarms.ts';
import * as metrics from './metrics.ts';
import type { Watched } from './watched.ts';

const WIDTH = 24;

/** Graphs of equal width that fill a row. */
function graphs(...charts: ReadonlyArray<readonly [title: string, ...metrics: IMetric[]]>): IWidget[] {
  return charts.map(
    ([title, ...left]) =>
      new GraphWidget({ title, left, width: WIDTH / charts.length, height: 6, leftYAxis: { min: 0 } }),
  );
}

const heading = (markdown: string): IWidget => new TextWidget({ markdown, width: WIDTH, height: 1 });

/** Read from the top: is anything wrong; what; where. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, watched: Watched, alarms: Alarms) {
    super(scope, id);
    const { depth, age, FIVE_MINUTES } = metrics;
    const own = (name: MetricName, statistic: string): IMetric => metrics.own(watched.settings, name, statistic);
    const { handlers, timers, commands, events, api, table } = watched;
    const perHandler = (metric: (handler: HandlerFunction, label: string) => IMetric): IMetric[] =>
      handlers.map((handler) => metric(handler, handler.handler));

    new CloudWatchDashboard(this, 'Dashboard', {
      dashboardName: watched.settings.prefix,
      widgets: [
        [heading('## Is anything wrong?')],
        [
          new AlarmStatusWidget({
            title: 'Alarms',
            alarms: Object.values(alarms.byName),
            width: WIDTH,
            height: 4,
          }),
        ],
        [
          new SingleValueWidget({
            title: 'Now',
            metrics: [
              own('VmsInCrashLoop', 'Maximum'),
              own('NodesBackingOff', 'Maximum'),
              own('NodesUnreachable', 'Maximum'),
              own('NodesSilent', 'Maximum'),
              own('NodesBlocked', 'Maximum'),
              own('GaveUp', 'Maximum'),
            ],
            width: WIDTH,
            height: 3,
          }),
        ],
        [heading('## What? The fleet')],
        graphs(
          ['Crashes of nodes', own('NodeCrash', 'Sum')],
          ['Failures of VMs', own('VmStartFailure', 'Sum'), own('VmUnstableRun', 'Sum')],
          [
            'Waiting or lost',
            own('NodesBackingOff', 'Maximum'),
            own('NodesUnreachable', 'Maximum'),
            own('NodesSilent', 'Maximum'),
          ],
        ),
        [heading('## What? The control plane')],
        graphs(
          ['Lateness of timers (ms)', own('TimerLatenessMs', 'p50'), own('TimerLatenessMs', 'p99')],
          ['Sweeps', own('SweepCompleted', 'Sum'), own('SweepFailures', 'Sum')],
          [
            'Dead letters',
            depth(timers.deadLetters.queue, 'timers'),
            depth(commands.deadLetters.queue, 'commands'),
            depth(events.deadLetters.queue, 'events'),
          ],
          ['Oldest message (s)', age(commands.queue.queue, 'commands'), age(timers.vernier.queue, 'vernier')],
        ),
        [heading('## Where?')],
        graphs(
          [
            'Errors by handler',
            ...perHandler(({ function: it }, label) => it.metricErrors({ period: FIVE_MINUTES, label })),
          ],
          [
            'Throttles by handler',
            ...perHandler(({ function: it }, label) => it.metricThrottles({ period: FIVE_MINUTES, label })),
          ],
          [
            'Duration by handler, p99',
            ...perHandler(({ function: it }, label) =>
              it.metricDuration({ period: FIVE_MINUTES, statistic: 'p99', label }),
            ),
          ],
        ),
        graphs(
          [
            'Requests',
            api.api.metricCount({ statistic: 'Sum', period: FIVE_MINUTES, label: 'all' }),
            api.api.metricClientError({ statistic: 'Sum', period: FIVE_MINUTES, label: '4xx' }),
            api.api.metricServerError({ statistic: 'Sum', period: FIVE_MINUTES, label: '5xx' }),
          ],
          ['Latency of the API, p99', api.api.metricLatency({ statistic: 'p99', period: FIVE_MINUTES })],
          [
            'Units of the table',
            table.table.metricConsumedReadCapacityUnits({ period: FIVE_MINUTES, label: 'read' }),
            table.table.metricConsumedWriteCapacityUnits({ period: FIVE_MINUTES, label: 'written' }),
          ],
          ['Throttles of the table', metrics.tableThrottles(watched)],
        ),
      ],
    });
  }
}
