/** How CloudWatch alarms stand: DescribeAlarms, up to 100 names in a call. */
import { type CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import type { AlarmState } from '../../core/rollout/alarm-states.ts';
import type { AlarmWatch } from '../ports.ts';

/** The most names, and the most alarms in an answer, that CloudWatch takes. */
const NAMES_MAX = 100;

export class CloudWatchAlarms implements AlarmWatch {
  readonly #cloudwatch: CloudWatchClient;

  constructor(cloudwatch: CloudWatchClient) {
    this.#cloudwatch = cloudwatch;
  }

  /** @throws whatever CloudWatch answers: then nothing is known of any of them */
  async states(names: readonly string[]): Promise<ReadonlyMap<string, AlarmState>> {
    const found = new Map<string, AlarmState>();
    for (let from = 0; from < names.length; from += NAMES_MAX) {
      const { MetricAlarms = [], CompositeAlarms = [] } = await this.#cloudwatch.send(
        new DescribeAlarmsCommand({
          AlarmNames: names.slice(from, from + NAMES_MAX),
          AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
          MaxRecords: NAMES_MAX,
        }),
      );
      for (const { AlarmName, StateValue } of [...MetricAlarms, ...CompositeAlarms])
        if (AlarmName !== undefined) found.set(AlarmName, StateValue === 'ALARM' ? 'ALARM' : 'OK');
    }
    return found;
  }
}
