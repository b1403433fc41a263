import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { validation } from './errors.ts';
import type { Loopback } from './loopback.ts';
import { byTarget, readInput, serveWire, type Surroundings } from './wire.ts';

const DescribeAlarms = z.object({
  AlarmNames: z.optional(z.array(z.string().check(z.minLength(1), z.maxLength(255))).check(z.maxLength(100))),
  AlarmTypes: z.optional(z.array(z.enum(['MetricAlarm', 'CompositeAlarm']))),
  MaxRecords: z.optional(z.int().check(z.gte(1), z.lte(100))),
});
const States = z.record(z.string(), z.enum(['OK', 'ALARM', 'INSUFFICIENT_DATA']));

/** @param file the alarms that there are, `{name: state}`; read again at each request, none without it */
export function startCloudWatch({
  port = 0,
  file,
  ...around
}: Surroundings & { port?: number; file: string }): Promise<Loopback> {
  return serveWire(port, around, {
    signingName: 'monitoring',
    contentType: 'application/x-amz-json-1.0',
    answer: byTarget('GraniteServiceVersion20100801', {
      DescribeAlarms: (body) => {
        const { AlarmNames } = readInput(DescribeAlarms, body);
        const states = read(file);
        const MetricAlarms = Object.entries(states)
          .filter(([name]) => AlarmNames === undefined || AlarmNames.includes(name))
          .map(([AlarmName, StateValue]) => ({ AlarmName, StateValue }));
        return { MetricAlarms, CompositeAlarms: [] };
      },
    }),
  });
}

function read(file: string): z.infer<typeof States> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  const parsed = z.safeParse(States, JSON.parse(text));
  if (!parsed.success) throw validation(`${file} is not {name: state}`);
  return parsed.data;
}
