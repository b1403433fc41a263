/** The fleet as last seen: every page of every list, walked again and again. */
import { batch, signal } from '@preact/signals';
import type { GroupJson, NodeJson, Summary, VmJson } from '../core/contract/answers.ts';
import { LIMIT_MAX } from '../core/contract/query.ts';
import { ROUTES } from '../core/contract/routes.ts';
import { type Look, wallNow } from './live.ts';
import { nodeMoves, vmMoves } from './pace.ts';
import { api, bodyOf } from './session.ts';

export const nodes = signal<ReadonlyMap<string, NodeJson>>(new Map());
export const vms = signal<ReadonlyMap<string, VmJson>>(new Map());
export const groups = signal<ReadonlyMap<string, GroupJson>>(new Map());
export const summary = signal<Summary | null>(null);
/** Whether every list has been walked to its end once: until then what is not shown may yet come. */
export const complete = signal(false);

const limit = String(LIMIT_MAX);
type Page<T> = { readonly items: readonly T[]; readonly cursor?: string };
type Walk<T> = {
  readonly ask: (cursor: string | undefined) => Promise<Page<T>>;
  readonly id: (item: T) => string;
  readonly into: { value: ReadonlyMap<string, T> };
};

/** Shows each page as it comes while the list is new; later all at once, so that nothing is missing in between. */
async function walk<T>({ ask, id, into }: Walk<T>, isCurrent: () => boolean): Promise<number> {
  const found = new Map<string, T>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await ask(cursor);
    pages += 1;
    for (const item of page.items) found.set(id(item), item);
    ({ cursor } = page);
    if (!isCurrent()) return pages;
    if (!complete.value && cursor !== undefined) into.value = new Map(found);
  } while (cursor !== undefined);
  into.value = found;
  return pages;
}

const query = (cursor: string | undefined): { limit: string; cursor?: string } => ({
  limit,
  ...(cursor === undefined ? {} : { cursor }),
});

const WALKS = {
  nodes: {
    ask: async (cursor) => bodyOf(await api.call(ROUTES.listNodes, { query: query(cursor) })),
    id: ({ nodeId }) => nodeId,
    into: nodes,
  } satisfies Walk<NodeJson>,
  vms: {
    ask: async (cursor) => bodyOf(await api.call(ROUTES.listVms, { query: query(cursor) })),
    id: ({ vmId }) => vmId,
    into: vms,
  } satisfies Walk<VmJson>,
  groups: {
    ask: async (cursor) => bodyOf(await api.call(ROUTES.listGroups, { query: query(cursor) })),
    id: ({ group }) => group,
    into: groups,
  } satisfies Walk<GroupJson>,
};

export const lookAtFleet: Look = async (isCurrent) => {
  const asked = api.call(ROUTES.getSummary, {}).then((answer) => {
    if (isCurrent()) summary.value = bodyOf(answer);
  });
  const [, ...pages] = await Promise.all([
    asked,
    walk<NodeJson>(WALKS.nodes, isCurrent),
    walk<VmJson>(WALKS.vms, isCurrent),
    walk<GroupJson>(WALKS.groups, isCurrent),
  ]);
  const now = wallNow();
  batch(() => {
    if (isCurrent()) complete.value = true;
  });
  return {
    moving:
      [...nodes.value.values()].some((node) => nodeMoves(node, now)) ||
      [...vms.value.values()].some((vm) => vmMoves(vm, now)),
    pages: pages.reduce((sum, count) => sum + count, 0),
  };
};
