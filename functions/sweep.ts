/** The sweep, every few minutes. */
import { SSMClient } from '@aws-sdk/client-ssm';
import { ManagedNodes } from './aws/managed-nodes.ts';
import { sweep, type SweepReport } from './operations/sweep.ts';
import { wire } from './wire.ts';

const { plane } = wire();
const registry = new ManagedNodes(new SSMClient({}));

export function handler(): Promise<SweepReport> {
  return sweep(plane, registry);
}
