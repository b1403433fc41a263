/** Items that the control plane could not read are not in its lists: whoever looks at one is told, once (DESIGN section 7). */
import type { Client } from './client.ts';
import { oneLine } from '../present/text.ts';

type Unreadable = { readonly id: string; readonly why: string };

/** The same client; what its answers leave out goes to `say`, a line for each, and each of them once. */
export function sayingUnreadable(client: Client, say: (line: string) => void): Client {
  const said = new Set<string>();
  return {
    send: async (call) => {
      const answer = await client.send(call);
      const what = SINGULAR[call.target.split(/[/?]/)[2] ?? ''] ?? 'item';
      for (const { id, why } of unreadableOf(answer.body)) {
        if (said.has(`${what} ${id}`)) continue;
        said.add(`${what} ${id}`);
        say(
          `${what} ${oneLine(id)} cannot be read and is left out: ${oneLine(why)}. Nothing is done with it until it can.\n`,
        );
      }
      return answer;
    },
  };
}

const SINGULAR: Readonly<Record<string, string>> = { nodes: 'node', vms: 'VM', groups: 'group' };

function unreadableOf(body: unknown): Unreadable[] {
  if (typeof body !== 'object' || body === null || !('unreadable' in body) || !Array.isArray(body.unreadable))
    return [];
  return body.unreadable.filter(isUnreadable);
}

const isUnreadable = (value: unknown): value is Unreadable =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  typeof value.id === 'string' &&
  'why' in value &&
  typeof value.why === 'string';
