/** Reading a request: ids, query and bodies are parsed here, and trusted from here on. */
import * as z from 'zod/mini';
import { BODY_BYTES_MAX } from '../../core/contract/operator-bodies.ts';
import {
  type GroupId,
  NAME_RULE,
  NODE_ID_RULE,
  type NodeId,
  parseGroupId,
  parseNodeId,
  parseVmId,
  type VmId,
} from '../../core/kit/ids.ts';
import { isWellFormed, wellFormed } from '../../core/kit/text.ts';
import { parseInstant } from '../../core/kit/time.ts';
import type { Caller } from './identity.ts';
import { fail, invalidBody } from './problem.ts';

export type ApiRequest = {
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** The raw body. */
  body: string;
  caller: Caller;
};

export function nodeIdOf(request: ApiRequest): NodeId {
  const id = parseNodeId(request.params['nodeId'] ?? '');
  if (id === null) throw fail(400, 'InvalidId', `not a node id: it must be ${NODE_ID_RULE}`);
  return id;
}

export function vmIdOf(request: ApiRequest): VmId {
  const id = parseVmId(request.params['vmId'] ?? '');
  if (id === null) throw fail(400, 'InvalidId', `not a VM id: it must be ${NAME_RULE}`);
  return id;
}

export function groupIdOf(request: ApiRequest): GroupId {
  const id = parseGroupId(request.params['group'] ?? '');
  if (id === null) throw fail(400, 'InvalidId', `not a group name: it must be ${NAME_RULE}`);
  return id;
}

/** An operator: any caller of this account that is not on a node role. */
export function operatorOf({ caller }: ApiRequest): string {
  switch (caller.kind) {
    case 'operator':
      return caller.name;
    case 'node':
    case 'unknownNode':
      throw fail(
        403,
        'OperatorOnly',
        'a node may not call an operator route: it may only report and ask what should run on it',
      );
    case 'anonymous':
      throw fail(
        403,
        'NoIdentity',
        'the request carries no identity of this account; sign it with SigV4 for execute-api',
      );
  }
}

/** The node that calls; with `expected`, it must be that one. */
export function callingNode({ caller }: ApiRequest, expected: NodeId | null): NodeId {
  switch (caller.kind) {
    case 'node':
      if (expected !== null && caller.nodeId !== expected) {
        throw fail(403, 'NotYourNode', `the identity is node ${caller.nodeId}; it may not speak for ${expected}`);
      }
      return caller.nodeId;
    case 'operator':
      throw fail(403, 'NodeOnly', 'only the node itself may call this route, with its instance role');
    case 'unknownNode':
      throw fail(403, 'NotYourNode', `the session name of ${caller.userArn} is not a node id`);
    case 'anonymous':
      throw fail(
        403,
        'NoIdentity',
        'the request carries no identity of this account; sign it with SigV4 for execute-api',
      );
  }
}

/** @param what which of the operators' bodies it is, for fields whose feature has not landed */
export function bodyOf<S extends z.core.$ZodType>(
  request: ApiRequest,
  schema: S,
  what: 'vm' | 'group' | null = null,
): z.output<S> {
  const bytes = Buffer.byteLength(request.body);
  if (bytes > BODY_BYTES_MAX) {
    throw fail(
      413,
      'BodyTooLarge',
      `the body has ${bytes} bytes; at most ${BODY_BYTES_MAX} are taken. Nothing was changed`,
    );
  }
  // A forgotten body must not put a policy back to its defaults; a verb has nothing to say.
  if (what !== null && request.body.trim() === '') {
    throw fail(400, 'InvalidBody', 'the body is missing: what is put replaces what was there. Nothing was changed');
  }
  const parsed = z.safeParse(schema, parseJson(request.body, request.caller));
  if (!parsed.success) throw invalidBody(parsed.error.issues, what);
  return parsed.data;
}

function parseJson(text: string, caller: Caller): unknown {
  // No body at all is a verb with nothing to say; one of blanks is no JSON.
  if (text === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fail(400, 'InvalidJson', `the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return SURROGATE_ESCAPE.test(text) ? withoutHalfPairs(value, caller) : value;
}

/** Only an escape can bring half of a surrogate pair into a body: what is decoded from UTF-8 has none. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** No store keeps half of a surrogate pair. An operator is told; an agent's report is kept: a refused one is a lost crash. */
function withoutHalfPairs(value: unknown, caller: Caller): unknown {
  const visit = (given: unknown): unknown => {
    if (typeof given === 'string') return whole(given, caller);
    if (Array.isArray(given)) return given.map(visit);
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([key, inner]) => [whole(key, caller), visit(inner)]));
  };
  return visit(value);
}

function whole(text: string, caller: Caller): string {
  if (isWellFormed(text)) return text;
  if (caller.kind === 'node') return wellFormed(text);
  throw fail(
    400,
    'InvalidJson',
    'the body has a text with half of a surrogate pair (such as \\ud800 alone), which is no character. Nothing was changed',
  );
}

const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 200;

/** What a cursor says of a list: the id, or the key in the log, of the last item given. */
const CURSORS = {
  nodes: (text: string) => parseNodeId(text) !== null,
  vms: (text: string) => parseVmId(text) !== null,
  groups: (text: string) => parseGroupId(text) !== null,
  events: (text: string) =>
    /^\d{4}-\d\d-\d\dT[\d:.]{12}Z#[\w/.-]{1,200}$/.test(text) && parseInstant(text.slice(0, 24)) !== null,
  recovery: (text: string) => {
    const kind = text.slice(0, text.indexOf(':'));
    const id = text.slice(text.indexOf(':') + 1);
    if (kind === 'node') return id === '' || parseNodeId(id) !== null;
    if (kind === 'vm') return id === '' || parseVmId(id) !== null;
    return kind === 'group' && (id === '' || parseGroupId(id) !== null);
  },
} as const;
type List = keyof typeof CURSORS;

/** @param list the list that the cursor must be of */
export function pageOf({ query }: ApiRequest, list: List): { limit: number; cursor: string | null } {
  const text = query.get('limit');
  const limit = text === null ? LIMIT_DEFAULT : /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMIT_MAX) {
    throw fail(400, 'InvalidLimit', `limit must be a whole number from 1 to ${LIMIT_MAX}`);
  }
  const cursor = query.get('cursor');
  if (cursor === null) return { limit, cursor };
  const place = decodeCursor(cursor, list);
  if (place === null) {
    throw fail(400, 'InvalidCursor', `the cursor is not one that the list of ${list} returned`);
  }
  return { limit, cursor: place };
}

/** What a cursor stands for; null when it is not one of that list. */
export function decodeCursor(cursor: string, list: List): string | null {
  const decoded = Buffer.from(cursor, 'base64url').toString('utf8');
  const prefix = `${list}:`;
  const position = decoded.slice(prefix.length);
  const genuine = decoded.startsWith(prefix) && Buffer.from(decoded, 'utf8').toString('base64url') === cursor;
  return genuine && CURSORS[list](position) ? position : null;
}

export const encodeCursor = (cursor: string | null, list: List): { cursor?: string } =>
  cursor === null ? {} : { cursor: Buffer.from(`${list}:${cursor}`, 'utf8').toString('base64url') };
