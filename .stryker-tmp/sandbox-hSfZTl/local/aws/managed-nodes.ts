// @ts-nocheck
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';

/** `i-` with 8 or 17 hexadecimal digits, or `mi-` with 17: the pattern of SendCommand's InstanceIds. */
export const NODE_ID = /^(?:i-(?:[0-9a-f]{8}|[0-9a-f]{17})|mi-[0-9a-f]{17})$/;

const ManagedNode = z.object({
  /** The environment scripts run with on this node. */
  env: z._default(z.record(z.string(), z.string()), {}),
  online: z._default(z.boolean(), true),
  /** One below 3.3.2746.0 sets no variables for parameters. */
  agentVersion: z._default(z.string().check(z.regex(/^\d+(\.\d+){3}$/)), '3.3.2746.0'),
});
export type ManagedNode = z.infer<typeof ManagedNode>;

/** The managed instances, each registered by a file `<nodeId>.json`; the files are read again each time. */
export interface ManagedNodes {
  /** Null when the node is not registered. A file that cannot be understood is an error, not a missing node. */
  readonly find: (nodeId: string) => ManagedNode | null;
  readonly ids: () => string[];
}

/** Looks for managed instances in a directory. */
export function openManagedNodes(directory: string): ManagedNodes {
  mkdirSync(directory, { recursive: true });
  return {
    find: (nodeId) => {
      if (!NODE_ID.test(nodeId)) return null;
      const text = readIfThere(join(directory, `${nodeId}.json`));
      return text === null ? null : z.parse(ManagedNode, JSON.parse(text));
    },
    ids: () =>
      readdirSync(directory)
        .filter((name) => name.endsWith('.json'))
        .map((name) => name.slice(0, -'.json'.length))
        .filter((id) => NODE_ID.test(id))
        .sort(),
  };
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Whether an SSM agent hands parameters over as environment variables: from 3.3.2746.0 on. */
export function takesVariables(agentVersion: string): boolean {
  const needed = [3, 3, 2746, 0];
  const parts = agentVersion.split('.').map(Number);
  for (const [index, least] of needed.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}
