/** The sweep, every few minutes. */
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { Context } from 'aws-lambda';
import { after, milliseconds, seconds } from '../core/kit/time.ts';
import { CloudWatchAlarms } from './aws/cloudwatch-alarms.ts';
import { later } from './aws/later.ts';
import { ManagedNodes } from './aws/managed-nodes.ts';
import { Home } from './operations/home.ts';
import { sweep, type SweepReport } from './operations/sweep.ts';
import { wire } from './wire.ts';

const { plane } = wire();
const home = new Home(plane);
const services = {
  registry: new ManagedNodes(later(() => new SSMClient({}))),
  watch: new CloudWatchAlarms(later(() => new CloudWatchClient({}))),
};

/** Before its function is stopped it stops by itself: what is under way then may take so long. */
const TIME_TO_END = seconds(20);

/**
 * @param context tells how much time is left; absent where nothing ends it (on a laptop)
 * @returns null while the table is an older copy that was not recovered: the missing sweep is an alarm
 */
export async function handler(
  _event?: unknown,
  context?: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<SweepReport | null> {
  const left = context?.getRemainingTimeInMillis();
  const until = left === undefined ? null : after(plane.now(), milliseconds(Math.max(0, left - TIME_TO_END)));
  return (await home.isOpen()) ? sweep(plane, services, until) : null;
}
