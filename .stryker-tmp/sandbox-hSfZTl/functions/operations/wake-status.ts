/** How a wake ended, as SSM says: never a crash, but a negative end brings the next repeat forward (DESIGN section 5). */
// @ts-nocheck

import type { NodeId } from '../../core/ids.ts';
import type { ControlPlane } from '../ports.ts';
import { turnNode } from './nodes.ts';
import { turnVm } from './vms.ts';

/** Ends after which the agent was certainly not woken (facts/aws-services.md section 2, Status). */
const NEGATIVE = new Set([
  'Failed',
  'TimedOut',
  'Cancelled',
  'Undeliverable',
  'Terminated',
  'DeliveryTimedOut',
  'Delivery Timed Out',
  'ExecutionTimedOut',
  'Execution Timed Out',
  'AccessDenied',
  'Access Denied',
  'InvalidPlatform',
  'Invalid Platform',
  'InvalidInstanceId',
]);

/** @param generation the generation that the wake named, when it is known */
export async function noteWakeStatus(
  plane: ControlPlane,
  nodeId: NodeId,
  status: string,
  generation: number | null,
): Promise<void> {
  if (!NEGATIVE.has(status)) return;
  await turnNode(plane, nodeId, { kind: 'wakeFailed', status, generation });
  for (const vmId of await plane.store.vmsOfHost(nodeId)) await turnVm(plane, vmId, { kind: 'wakeFailed', status });
}
