/** How a wake ended, as SSM says: never a crash, but a negative end brings the next repeat forward (DESIGN section 5). */
import * as z from 'zod/mini';
import { type NodeId, parseNodeId } from '../../core/kit/ids.ts';
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

/** Lenient: newer fields come and go (facts/aws-services.md section 2). */
const detailSchema = z.object({
  'instance-id': z.string(),
  status: z.string(),
  'status-details': z.optional(z.string()),
  'document-name': z.optional(z.string()),
});

/** @param detail of SSM's event about one invocation of a command; one of another document is none of ours */
export async function noteCommandStatus(plane: ControlPlane, document: string, detail: unknown): Promise<void> {
  const parsed = z.safeParse(detailSchema, detail);
  if (!parsed.success) {
    plane.telemetry.warn('a command status that cannot be read is passed over', { detail });
    return;
  }
  const { 'instance-id': id, status, 'status-details': details, 'document-name': named } = parsed.data;
  const nodeId = parseNodeId(id);
  if (nodeId === null || (named !== undefined && named !== document)) return;
  await noteWakeStatus(plane, nodeId, status === 'Failed' && details !== undefined ? details : status, null);
}
