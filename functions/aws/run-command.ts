/** SSM Run Command: one wake for up to 50 nodes (DESIGN section 5; facts/aws-services.md section 2). */
import { createHash } from 'node:crypto';
import { InvalidInstanceId, SendCommandCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { WAKE_PARAMETERS } from '../../core/contract/names.ts';

const BATCH_MAX = 50;
/** Delivery: the least that SSM takes. A node that is away asks by itself when it comes back. */
const DELIVERY_SECONDS = 30;

/** `generation` of the node's spec, or null for a VM's wake: it says what the wake was for, and is not sent. */
export type WakeTarget = { nodeId: string; generation: number | null };
/** `unsent`: SSM took neither these nor said that it does not know them; they may be tried again. */
export type WakeOutcome = { unregistered: WakeTarget[]; unsent: { targets: WakeTarget[]; error: unknown } | null };

/** The wake says nothing but "ask": an agent of a release before expects a generation, and takes 0 for "any". */
const ANY_GENERATION = '0';

/** One command for up to 50 nodes, whatever each of them is woken for (DESIGN section 5). */
export async function wakeNodes(
  ssm: SSMClient,
  document: string,
  targets: readonly WakeTarget[],
  wakeId: string,
): Promise<WakeOutcome> {
  const nodes = [...new Set(targets.map(({ nodeId }) => nodeId))];
  const unregistered = new Set<string>();
  const meant = (ids: ReadonlySet<string>): WakeTarget[] => targets.filter(({ nodeId }) => ids.has(nodeId));
  for (let from = 0; from < nodes.length; from += BATCH_MAX) {
    const failed = await wakeBatch(ssm, document, nodes.slice(from, from + BATCH_MAX), wakeId, unregistered);
    if (failed === null) continue;
    // What throttles one batch would throttle the next.
    const unsent = new Set([...failed.nodes, ...nodes.slice(from + BATCH_MAX)]);
    return { unregistered: meant(unregistered), unsent: { targets: meant(unsent), error: failed.error } };
  }
  return { unregistered: meant(unregistered), unsent: null };
}

type Failed = { nodes: string[]; error: unknown };

/** One bad id refuses the whole batch, so the batch is split until the bad ones stand alone. */
async function wakeBatch(
  ssm: SSMClient,
  document: string,
  nodes: string[],
  wakeId: string,
  unregistered: Set<string>,
): Promise<Failed | null> {
  try {
    await send(ssm, document, nodes, wakeId);
    return null;
  } catch (error) {
    if (!(error instanceof InvalidInstanceId)) return { nodes, error };
    if (nodes.length === 1) {
      nodes.forEach((nodeId) => unregistered.add(nodeId));
      return null;
    }
    const half = Math.ceil(nodes.length / 2);
    const rest = nodes.slice(half);
    const first = await wakeBatch(ssm, document, nodes.slice(0, half), wakeId, unregistered);
    if (first !== null) return { ...first, nodes: [...first.nodes, ...rest] };
    return wakeBatch(ssm, document, rest, wakeId, unregistered);
  }
}

async function send(ssm: SSMClient, document: string, nodes: string[], wakeId: string): Promise<void> {
  // Different batches of one delivery must not share a wake id: the agent's wake file is named by it.
  const id = createHash('sha256')
    .update(`${wakeId}/${nodes.join(',')}`)
    .digest('hex')
    .slice(0, 32);
  await ssm.send(
    new SendCommandCommand({
      DocumentName: document,
      InstanceIds: nodes,
      Comment: `holdoff ${id}`,
      TimeoutSeconds: DELIVERY_SECONDS,
      Parameters: { [WAKE_PARAMETERS.wakeId]: [id], [WAKE_PARAMETERS.generation]: [ANY_GENERATION] },
    }),
  );
}
