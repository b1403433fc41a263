/** What the API's answers are: checked for the mark that tells their kind, then typed by the contract. */
import type {
  ConsoleAnswer,
  EventEntry,
  GroupJson,
  NodeJson,
  RecoverAnswer,
  Summary,
  VmJson,
} from '../core/contract/answers.ts';
import { API_VERSION } from '../core/contract/names.ts';
import type { ApiCall } from '../client/request.ts';
import type { Client } from './client.ts';
import { CliError } from './errors.ts';

type Kinds = {
  node: NodeJson;
  vm: VmJson;
  group: GroupJson;
  event: EventEntry;
  summary: Summary;
  recovery: RecoverAnswer;
  console: ConsoleAnswer;
};
export type Kind = keyof Kinds;

/** A field that an answer of each kind has, and no other kind. */
const MARKS: Record<Kind, string> = {
  node: 'nodeId',
  vm: 'vmId',
  group: 'policy',
  event: 'subject',
  summary: 'attention',
  recovery: 'touched',
  console: 'askedAt',
};

const major = (version: string): string => version.split('.')[0] ?? '';

/** Reads an answer of one kind, of an API version that this program speaks. */
export function readAnswer<K extends Kind>(kind: K, body: unknown): Kinds[K] {
  checkVersion(body);
  return readItem(kind, body);
}

function readItem<K extends Kind>(kind: K, value: unknown): Kinds[K] {
  if (typeof value !== 'object' || value === null || !(MARKS[kind] in value)) {
    throw new CliError('UnknownFormat', {
      what: `the control plane's answer is not a ${kind}`,
      why: `it has no field ${MARKS[kind]}`,
      next: 'see the answer itself with --json; is this program as new as the control plane?',
    });
  }
  // The cast holds: the answer bears the mark of its kind, and within an API version fields are only added.
  return value as Kinds[K];
}

function checkVersion(body: unknown): void {
  const version = typeof body === 'object' && body !== null && 'api' in body ? body.api : undefined;
  if (typeof version === 'string' && major(version) === major(API_VERSION)) return;
  throw new CliError('UnknownFormat', {
    what: `the control plane speaks another API version than ${API_VERSION}`,
    why: typeof version === 'string' ? `its answer names version ${version}` : 'its answer names no version',
    next: 'use the holdoff program of the same release as the control plane',
  });
}

export type Listed<T> = {
  readonly api: string;
  readonly items: T[];
  readonly cursor?: string;
  /** What is not in it because the control plane cannot read it. */
  readonly unreadable?: readonly unknown[];
};

/** The call for one page of a list; a log of the last events has one page and takes no query. */
export type PageCall = (query: { readonly limit?: string; readonly cursor?: string }) => ApiCall;

/** The most items that the CLI asks of one page. */
const PAGE_MAX = 100;

/**
 * Reads a list to its end, or until `limit` items that `keep` accepts. The cursor of the answer is only given when
 * going on from it would leave nothing out.
 */
export async function readList<K extends Kind>(
  client: Client,
  kind: K,
  pageOf: PageCall,
  { limit = Infinity, keep = () => true }: { limit?: number; keep?: (item: Kinds[K]) => boolean } = {},
): Promise<Listed<Kinds[K]>> {
  const items: Kinds[K][] = [];
  const unreadable: unknown[] = [];
  const seen = new Set<string>();
  let api = '';
  let cursor: string | undefined;
  do {
    const call = pageOf({
      ...(limit === Infinity ? {} : { limit: String(Math.min(limit, PAGE_MAX)) }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const page = readPage((await client.send(call)).body);
    api = page.api;
    items.push(...page.items.map((item) => readItem(kind, item)).filter(keep));
    unreadable.push(...(page.unreadable ?? []));
    cursor = page.cursor;
    if (cursor !== undefined && seen.has(cursor)) throw endless(call.target);
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined && items.length < limit);
  const complete = items.length <= limit;
  return {
    api,
    items: items.slice(0, limit),
    ...(complete && cursor !== undefined ? { cursor } : {}),
    ...(unreadable.length === 0 ? {} : { unreadable }),
  };
}

function readPage(body: unknown): Listed<unknown> {
  checkVersion(body);
  const ok =
    typeof body === 'object' &&
    body !== null &&
    'items' in body &&
    Array.isArray(body.items) &&
    (!('unreadable' in body) || Array.isArray(body.unreadable)) &&
    (!('cursor' in body) || typeof body.cursor === 'string');
  if (ok) {
    // The cast holds: each field of Listed<unknown> has just been looked at.
    return body as Listed<unknown>;
  }
  throw new CliError('UnknownFormat', {
    what: "the control plane's answer is not a list",
    why: 'it has no items, or a cursor that is not a text',
    next: 'is this program as new as the control plane?',
  });
}

const endless = (path: string): CliError =>
  new CliError('EndlessList', {
    what: `the list ${path.split('?')[0] ?? path} does not end`,
    why: 'the control plane gave the same cursor twice',
    next: 'ask for the first part with --limit N, and report this',
  });
