/** Reading a body: its size, its JSON, and its schema. */
import * as z from 'zod/mini';
import { BODY_BYTES_MAX } from '../../core/contract/operator-bodies.ts';
import { isWellFormed, wellFormed } from '../../core/kit/text.ts';
import type { Caller } from './identity.ts';
import { fail, invalidBody } from './problem.ts';

/** @param what which of the operators' bodies it is, for fields whose feature has not landed */
export function readBody<S extends z.core.$ZodType>(
  request: { readonly body: string; readonly caller: Caller },
  schema: S,
  what: 'vm' | 'group' | null,
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
  const shallow = cutBelow(text, DEPTH_MAX);
  // An agent's report is kept, as with half pairs: what is that deep in it is words for a person, and cut as those are.
  if (shallow !== text && caller.kind !== 'node') {
    throw fail(400, 'InvalidJson', `the body is nested deeper than ${DEPTH_MAX} levels. Nothing was changed`);
  }
  let value: unknown;
  try {
    value = JSON.parse(shallow);
  } catch (error) {
    throw fail(400, 'InvalidJson', `the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return SURROGATE_ESCAPE.test(text) ? withoutHalfPairs(value, caller) : value;
}

/** No body of ours is a quarter as deep; one much deeper would end whoever walks through it. */
const DEPTH_MAX = 64;

/** The text with what is nested deeper than that left out; brackets within strings are no brackets. */
function cutBelow(text: string, most: number): string {
  let depth = 0;
  let kept = '';
  let from = 0;
  for (const { 0: found, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{\]}]/g)) {
    if (found === '[' || found === '{') {
      depth += 1;
      if (depth === most + 1) kept += `${text.slice(from, index)}"…"`;
    } else if (found === ']' || found === '}') {
      depth -= 1;
      if (depth === most) from = index + 1;
    }
  }
  // Whatever never closes is cut with all that follows it: JSON refuses that.
  return depth > most ? kept : kept + text.slice(from);
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
