/** SSM says how a wake went (best effort). Never a crash: a negative end is shown and brings the next repeat forward. */
// @ts-nocheck

import type { EventBridgeEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { parseNodeId } from '../core/ids.ts';
import { noteWakeStatus } from './operations/wake-status.ts';
import { wire } from './wire.ts';

const { env, plane } = wire();

/** Lenient: newer fields come and go (facts/aws-services.md section 2). */
const detailSchema = z.object({
  'instance-id': z.string(),
  status: z.string(),
  'status-details': z.optional(z.string()),
  'document-name': z.optional(z.string()),
});

export async function handler(event: EventBridgeEvent<string, unknown>): Promise<void> {
  const parsed = z.safeParse(detailSchema, event.detail);
  if (!parsed.success) {
    plane.telemetry.warn('a command status that cannot be read is passed over', { detail: event.detail });
    return;
  }
  const { 'instance-id': id, status, 'status-details': details, 'document-name': document } = parsed.data;
  const nodeId = parseNodeId(id);
  if (nodeId === null || (document !== undefined && document !== env.wakeDocument)) return;
  await noteWakeStatus(plane, nodeId, status === 'Failed' && details !== undefined ? details : status, null);
}
