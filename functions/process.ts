/** What a Lambda function has of its own: its clock, its chance, and its log. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Draw } from '../core/decision/fact.ts';
import { instant, type Instant } from '../core/kit/time.ts';
import type { PlaneProcess } from './plane.ts';
import { LogTelemetry } from './telemetry.ts';

const clock = (): Instant => instant(Date.now());

/** 48 random bits make a number from [0, 1); 64 make an id. */
export function randomDraw(): Draw {
  const unit = (): number => randomBytes(6).readUIntBE(0, 6) / 2 ** 48;
  return { delay: unit(), deadline: unit(), id: randomBytes(8).toString('hex') };
}

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** @param metricNamespace of the deployment: two never share a metric */
export const thisProcess = (metricNamespace: string): PlaneProcess => ({
  now: clock,
  draw: randomDraw,
  pause: setTimeout,
  telemetry: new LogTelemetry(writeLine, clock, metricNamespace),
});
