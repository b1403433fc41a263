/** Queued wakes go to SSM in batches. A node that SSM does not know is shown, and woken again later. */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseNodeId } from '../../core/kit/ids.ts';
import { parseWake, type WakeMessage } from '../messages.ts';
import type { ControlPlane } from '../ports.ts';
import { noteWakeStatus } from './wake-status.ts';

/** Wakes nodes, and says which of them SSM does not know; throws when the whole batch may be tried again. */
export type WakeNodes = (targets: readonly WakeMessage[], wakeId: string) => Promise<{ unregistered: WakeMessage[] }>;

export async function deliverWakes(
  plane: ControlPlane,
  wakeNodes: WakeNodes,
  event: Pick<SQSEvent, 'Records'>,
): Promise<SQSBatchResponse> {
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  const wakes: { messageId: string; target: WakeMessage }[] = [];
  for (const { messageId, body } of event.Records) {
    try {
      wakes.push({ messageId, target: parseWake(body) });
    } catch (error) {
      plane.telemetry.warn('a wake could not be read', { body, error: String(error) });
      batchItemFailures.push({ itemIdentifier: messageId });
    }
  }
  const [first] = wakes;
  if (first === undefined) return { batchItemFailures };
  try {
    const targets = wakes.map(({ target }) => target);
    const { unregistered } = await wakeNodes(targets, first.messageId);
    for (const { nodeId, generation } of unregistered) await noteUnregistered(plane, nodeId, generation);
  } catch (error) {
    plane.telemetry.warn('SSM did not take the wakes; they are delivered again', {
      count: wakes.length,
      error: String(error),
    });
    batchItemFailures.push(...wakes.map(({ messageId }) => ({ itemIdentifier: messageId })));
  }
  return { batchItemFailures };
}

async function noteUnregistered(plane: ControlPlane, text: string, generation: number | null): Promise<void> {
  const nodeId = parseNodeId(text);
  if (nodeId === null) return;
  plane.telemetry.warn('SSM does not know this node, or it is not running', { nodeId });
  await noteWakeStatus(plane, nodeId, 'InvalidInstanceId', generation);
}
