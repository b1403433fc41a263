/**
 * Log lines and metrics on standard output, where Lambda's log has them. Metrics are in the embedded metric format,
 * always also without a dimension: the alarms read that one (facts/aws-services.md section 6).
 */
import type { GroupId } from '../core/kit/ids.ts';
import type { MetricName } from '../core/contract/names.ts';
import type { Instant } from '../core/kit/time.ts';
import type { Telemetry } from './ports.ts';

export class LogTelemetry implements Telemetry {
  readonly #write: (line: string) => void;
  readonly #now: () => Instant;
  readonly #namespace: string;

  constructor(write: (line: string) => void, now: () => Instant, namespace: string) {
    this.#write = write;
    this.#now = now;
    this.#namespace = namespace;
  }

  metric(name: MetricName, value: number, group: GroupId | null): void {
    const dimensions = group === null ? [[]] : [[], ['Group']];
    this.#write(
      JSON.stringify({
        _aws: {
          Timestamp: this.#now(),
          CloudWatchMetrics: [
            {
              Namespace: this.#namespace,
              Dimensions: dimensions,
              Metrics: [{ Name: name, Unit: name.endsWith('Ms') ? 'Milliseconds' : 'Count' }],
            },
          ],
        },
        [name]: value,
        ...(group === null ? {} : { Group: group }),
      }),
    );
  }

  warn(message: string, detail: Record<string, unknown>): void {
    this.#write(JSON.stringify({ level: 'WARN', message, ...detail }));
  }
}
