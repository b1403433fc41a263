/** The VMs that keep a node from rebooting (DESIGN section 3 rule 10). */
import type { NodeRecord } from './record.ts';

/** As they were when the node was last looked at. */
export const blockersOf = ({ vmBlockers }: NodeRecord): readonly string[] => vmBlockers ?? [];

/** Keeps what the shell has found out about the VMs of the node; the same node when it is nothing new. */
export function withBlockers(node: NodeRecord, blockers: readonly string[] | undefined): NodeRecord {
  if (blockers === undefined || blockers.join() === blockersOf(node).join()) return node;
  return { ...node, vmBlockers: [...blockers] };
}

/** `VM a keeps it` or `VMs a, b and 3 more keep it`. */
export function sayBlockers(blockers: readonly string[]): string {
  const named = blockers.slice(0, NAMED_MAX).join(', ');
  const more = blockers.length > NAMED_MAX ? ` and ${blockers.length - NAMED_MAX} more` : '';
  return blockers.length === 1 ? `VM ${named} keeps it` : `VMs ${named}${more} keep it`;
}
const NAMED_MAX = 5;
