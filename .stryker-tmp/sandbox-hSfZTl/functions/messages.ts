/** Parsing what queues and timers bring. A message that cannot be read is an error, so that it ends in a dead-letter queue. */
// @ts-nocheck

import * as z from 'zod/mini';
import { parseGroupId, parseNodeId, parseVmId } from '../core/ids.ts';
import { instant, type Instant } from '../core/time.ts';
import type { Ref } from './ports.ts';

const firing = z.object({ kind: z.enum(['node', 'vm', 'group']), id: z.string(), at: z.number() });
const wake = z.object({ nodeId: z.string(), generation: z.int() });

/** A message that is none of ours. */
export class MessageError extends Error {
  readonly code = 'Message';
}

/** @throws {MessageError} */
export function parseFiring(value: unknown): { ref: Ref; at: Instant } {
  const parsed = z.safeParse(firing, value);
  if (!parsed.success) throw new MessageError(`not a firing: ${JSON.stringify(value)}`);
  const ref = refOf(parsed.data.kind, parsed.data.id);
  if (ref === null) throw new MessageError(`a firing for a malformed id: ${JSON.stringify(value)}`);
  return { ref, at: instant(parsed.data.at) };
}

function refOf(kind: Ref['kind'], text: string): Ref | null {
  switch (kind) {
    case 'node': {
      const id = parseNodeId(text);
      return id === null ? null : { kind, id };
    }
    case 'vm': {
      const id = parseVmId(text);
      return id === null ? null : { kind, id };
    }
    case 'group': {
      const id = parseGroupId(text);
      return id === null ? null : { kind, id };
    }
  }
}

/** @throws {MessageError} */
export function parseWake(body: string): { nodeId: string; generation: number } {
  const parsed = z.safeParse(wake, parseJson(body));
  if (!parsed.success) throw new MessageError(`not a wake: ${body}`);
  return parsed.data;
}

/** @throws {MessageError} */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MessageError(`not JSON: ${text}`);
  }
}
