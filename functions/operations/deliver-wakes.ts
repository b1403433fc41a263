/** Queued wakes go to SSM in batches. A node that SSM does not know is shown, and woken again later. */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseNodeId } from '../../core/kit/ids.ts';
import { parseWake, type WakeMessage } from '../messages.ts';
import type { ControlPlane } from '../ports.ts';
import { noteWakeStatus } from './wake-status.ts';

/** Wakes nodes, and says which of them SSM does not know, and which may be tried again because it took none of them. */
export type WakeNodes = (
  targets: readonly WakeMessage[],
  wakeId: string,
) => Promise<{ unregistered: WakeMessage[]; unsent: { targets: WakeMessage[]; error: unknown } | null }>;

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
  const { unregistered, unsent } = await wakeNodes(
    wakes.map(({ target }) => target),
    first.messageId,
  );
  for (const { nodeId, generation } of unregistered) await noteUnregistered(plane, nodeId, generation);
  if (unsent !== null) {
    const again = wakes.filter(({ target }) => unsent.targets.includes(target));
    plane.telemetry.warn('SSM did not take these wakes; they, and no others, are delivered again', {
      count: again.length,
      of: wakes.length,
      error: String(unsent.error),
    });
    batchItemFailures.push(...again.map(({ messageId }) => ({ itemIdentifier: messageId })));
  }
  return { batchItemFailures };
}

async function noteUnregistered(plane: ControlPlane, text: string, generation: number | null): Promise<void> {
  const nodeId = parseNodeId(text);
  if (nodeId === null) return;
  plane.telemetry.warn('SSM does not know this node, or it is not running', { nodeId });
  try {
    await noteWakeStatus(plane, nodeId, 'InvalidInstanceId', generation);
  } catch (error) {
    // The wakes of this delivery that SSM took must not be sent again for it.
    plane.telemetry.warn('that could not be noted; the wake is repeated in its time', { nodeId, error: String(error) });
  }
}
