/** The tag of what a host is told of its VMs: another one means that the agent is to ask for the list (DESIGN section 6). */
import { createHash } from 'node:crypto';
import type { HostEntry } from '../core/vm/host-entry.ts';

const TAG_LENGTH = 16;

/** The same whenever the host is told the same; how long it has for a start is in the launch answer, and not in this. */
export function vmsTagOf(entries: readonly HostEntry[]): string {
  const lines = entries.flatMap(({ line }) => (line === null ? [] : [{ ...line, deadlineAt: null }]));
  const said = lines.map((line) => JSON.stringify(line)).sort();
  return createHash('sha256').update(said.join('\n')).digest('base64url').slice(0, TAG_LENGTH);
}
