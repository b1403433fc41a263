/** SSM Run Command: one wake for up to 50 nodes (DESIGN section 5; facts/aws-services.md section 2). */
import { createHash } from 'node:crypto';
import { InvalidInstanceId, SendCommandCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { WAKE_PARAMETERS } from '../../core/contract/names.ts';

const BATCH_MAX = 50;
/** Delivery: the least that SSM takes. A node that is away asks by itself when it comes back. */
const DELIVERY_SECONDS = 30;

/** `generation` null: a VM's wake, which names none; an older agent expects 0 there. */
export type WakeTarget = { nodeId: string; generation: number | null };
export type WakeOutcome = { unregistered: WakeTarget[] };

/** @throws whatever SSM answers other than InvalidInstanceId: the whole batch may be tried again */
export async function wakeNodes(
  ssm: SSMClient,
  document: string,
  targets: readonly WakeTarget[],
  wakeId: string,
): Promise<WakeOutcome> {
  const unregistered: WakeTarget[] = [];
  for (const [generation, group] of byGeneration(targets)) {
    for (let from = 0; from < group.length; from += BATCH_MAX) {
      unregistered.push(...(await wakeBatch(ssm, document, group.slice(from, from + BATCH_MAX), generation, wakeId)));
    }
  }
  return { unregistered };
}

/** One bad id refuses the whole batch, so the batch is split until the bad ones stand alone. */
async function wakeBatch(
  ssm: SSMClient,
  document: string,
  nodes: string[],
  generation: number | null,
  wakeId: string,
): Promise<WakeTarget[]> {
  try {
    await send(ssm, document, nodes, generation, wakeId);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidInstanceId)) throw error;
    if (nodes.length === 1) return nodes.map((nodeId) => ({ nodeId, generation }));
    const half = Math.ceil(nodes.length / 2);
    const first = await wakeBatch(ssm, document, nodes.slice(0, half), generation, wakeId);
    return [...first, ...(await wakeBatch(ssm, document, nodes.slice(half), generation, wakeId))];
  }
}

async function send(
  ssm: SSMClient,
  document: string,
  nodes: string[],
  generation: number | null,
  wakeId: string,
): Promise<void> {
  // Different batches of one delivery must not share a wake id: the agent's wake file is named by it.
  const id = createHash('sha256')
    .update(`${wakeId}/${generation ?? 0}/${nodes.join(',')}`)
    .digest('hex')
    .slice(0, 32);
  await ssm.send(
    new SendCommandCommand({
      DocumentName: document,
      InstanceIds: nodes,
      Comment: `holdoff ${generation ?? 0} ${id}`,
      TimeoutSeconds: DELIVERY_SECONDS,
      Parameters: { [WAKE_PARAMETERS.wakeId]: [id], [WAKE_PARAMETERS.generation]: [String(generation ?? 0)] },
    }),
  );
}

function byGeneration(targets: readonly WakeTarget[]): Map<number | null, string[]> {
  const groups = new Map<number | null, string[]>();
  for (const { nodeId, generation } of targets) {
    const known = groups.get(generation) ?? [];
    if (!known.includes(nodeId)) groups.set(generation, [...known, nodeId]);
  }
  return groups;
}
