/** The sweep, every few minutes. */
import { SSMClient } from '@aws-sdk/client-ssm';
import { ManagedNodes } from './aws/managed-nodes.ts';
import { Home } from './operations/home.ts';
import { sweep, type SweepReport } from './operations/sweep.ts';
import { wire } from './wire.ts';

const { plane } = wire();
const home = new Home(plane);
const registry = new ManagedNodes(new SSMClient({}));

/** @returns null while the table is an older copy that was not recovered: the missing sweep is an alarm */
export async function handler(): Promise<SweepReport | null> {
  return (await home.isOpen()) ? sweep(plane, registry) : null;
}
