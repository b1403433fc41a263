/** What would change: the declared state against the present one, field by field. */
import type { GroupJson, VmJson } from '../../core/contract/answers.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import { describePolicy } from '../../core/group/describe.ts';
import { DEFAULT_GROUP } from '../../core/kit/ids.ts';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import type { Declared } from './file.ts';

/** `was` or `is` undefined: the field is not there. */
export type Field = { path: string; was: unknown; is: unknown };
export type Change =
  | { kind: 'group'; id: string; act: 'create' | 'change'; fields: readonly Field[]; body: GroupBody }
  | { kind: 'vm'; id: string; act: 'create' | 'change'; fields: readonly Field[]; body: VmBody }
  | { kind: 'group' | 'vm'; id: string; act: 'delete'; fields: readonly Field[] };

export type Present = { groups: readonly GroupJson[]; vms: readonly VmJson[] };

/** In an order that can be carried out: a group after the one it waits for, VMs after groups, deletions last. */
export function planOf(declared: Declared, present: Present, prune: boolean): Change[] {
  const groups = new Map(present.groups.map((group) => [group.group, group]));
  const vms = new Map(present.vms.map((vm) => [vm.vmId, vm]));
  const changes: Change[] = [];
  for (const [id, body] of inOrder(Object.entries(declared.groups ?? {}))) {
    const known = groups.get(id);
    const fields = differences(known?.declared === true ? known.policy : undefined, describePolicy(body));
    if (known?.declared !== true)
      changes.push({ kind: 'group', id, act: 'create', fields: differences({}, body), body });
    else if (fields.length > 0) changes.push({ kind: 'group', id, act: 'change', fields, body });
  }
  for (const [id, body] of Object.entries(declared.vms ?? {})) {
    const known = vms.get(id);
    const fields = differences(known?.declared ?? {}, body);
    if (fields.length > 0)
      changes.push({ kind: 'vm', id, act: known === undefined ? 'create' : 'change', fields, body });
  }
  return prune ? [...changes, ...pruned(declared, present)] : changes;
}

/** Only of a kind that the files speak of, and only what was declared. */
function pruned(declared: Declared, { groups, vms }: Present): Change[] {
  const gone = (kind: 'group' | 'vm', id: string): Change => ({ kind, id, act: 'delete', fields: [] });
  const wanted = declared.groups;
  const deadGroups =
    wanted === undefined
      ? []
      : inOrder(groups.filter((group) => group.declared).map(({ group, policy }) => [group, policy] as const))
          .map(([id]) => id)
          .filter((id) => id !== DEFAULT_GROUP && wanted[id] === undefined)
          .reverse();
  const deadVms =
    declared.vms === undefined ? [] : vms.map(({ vmId }) => vmId).filter((id) => declared.vms?.[id] === undefined);
  return [...deadVms.map((id) => gone('vm', id)), ...deadGroups.map((id) => gone('group', id))];
}

/** A group comes after the one that its `after` names; a cycle is left for the control plane to refuse. */
function inOrder<B extends Pick<GroupBody, 'after'>>(
  given: readonly (readonly [string, B])[],
): (readonly [string, B])[] {
  const left = new Map(given);
  const order: (readonly [string, B])[] = [];
  while (left.size > 0) {
    const ready = [...left].filter(([, { after }]) => after === undefined || !left.has(after.group));
    const next = ready.length === 0 ? [...left] : ready;
    for (const [id, body] of next) {
      left.delete(id);
      order.push([id, body]);
    }
  }
  return order;
}

/** The leaves that differ; a list is one leaf, since its order matters. */
export function differences(was: unknown, is: unknown, path = ''): Field[] {
  if (isObject(was) && isObject(is)) {
    const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
    return names.flatMap((name) => differences(was[name], is[name], path === '' ? name : `${path}.${name}`));
  }
  return same(was, is) ? [] : [{ path, was, is }];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, at) => same(one, b[at]));
  if (isObject(a) && isObject(b)) return differences(a, b).length === 0;
  return a === b;
}
