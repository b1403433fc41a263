/** What AWS says of the machines: stopped, started, terminated, deregistered, or no longer known (DESIGN section 2 rule 9). */
import type { NodeId } from '../../core/kit/ids.ts';
import type { NodeEvent } from '../../core/node/event.ts';
import { fenceToRepeat, suspectedLost } from '../../core/node/machine.ts';
import type { Instant } from '../../core/kit/time.ts';
import type { ControlPlane, NodeRegistry } from '../ports.ts';
import { loadMany } from '../unreadable.ts';
import { turnNode } from './nodes.ts';
import { tellVms } from './vms.ts';

export type MachineEvent = {
  nodeId: NodeId;
  kind: 'stopped' | 'running' | 'terminated' | 'deregistered';
  at: Instant;
};

/**
 * One event about one machine; about a node that never enrolled it says nothing. Delivered again, it fences again: what
 * followed from the first delivery may have been cut short.
 */
export async function noteMachineEvent(plane: ControlPlane, { nodeId, kind, at }: MachineEvent): Promise<void> {
  const event: NodeEvent = kind === 'stopped' || kind === 'running' ? { kind, at } : { kind: 'gone', how: kind, at };
  const result = await turnNode(plane, nodeId, event);
  if (result.kind !== 'unchanged' || result.record === null || kind === 'running') return;
  const fence = fenceToRepeat(result.record, kind, at);
  if (fence !== null) await tellVms(plane, { kind: 'hostFenced', hostId: nodeId, at: plane.now(), ...fence });
}

/** How many silent nodes one sweep looks at, and asks SSM about in one request. */
const SUSPECTS_MAX = 50;

/**
 * Of the silent nodes those that have been so for a day and that SSM does not know become tombstones. More than are
 * looked at in one sweep take turns. When SSM does not answer, nothing changes.
 * @returns how many became tombstones
 */
export async function buryLost(
  plane: ControlPlane,
  registry: NodeRegistry,
  silent: readonly NodeId[],
): Promise<number> {
  const from = silent.length > SUSPECTS_MAX ? Math.floor(plane.draw().delay * silent.length) : 0;
  const inTurn = [...silent.slice(from), ...silent.slice(0, from)].slice(0, SUSPECTS_MAX);
  const { records } = await loadMany(plane, 'node', inTurn);
  const suspects = records.filter((node) => suspectedLost(node, plane.now())).map(({ nodeId }) => nodeId);
  if (suspects.length === 0) return 0;
  const known = await registry.known(suspects);
  const lost = suspects.filter((nodeId) => !known.has(nodeId));
  for (const nodeId of lost) await turnNode(plane, nodeId, { kind: 'gone', how: 'lost', at: plane.now() });
  return lost.length;
}
