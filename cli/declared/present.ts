/** The present state in the form that files declare it in. */
import { callOf } from '../../client/request.ts';
import type { GroupJson } from '../../core/contract/answers.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { describePolicy } from '../../core/group/describe.ts';
import type { GroupBody } from '../../core/policy/group-policy.ts';
import { readList } from '../answers.ts';
import type { Client } from '../client.ts';
import type { Declared } from './file.ts';
import { differences, type Present } from './plan.ts';

export async function readPresent(client: Client): Promise<Present> {
  const groups = await readList(client, 'group', (query) => callOf(ROUTES.listGroups, { query }));
  const vms = await readList(client, 'vm', (query) => callOf(ROUTES.listVms, { query }));
  return { groups: groups.items, vms: vms.items };
}

/** Groups that nobody declared have no policy of their own, and are left out. */
export function exported({ groups, vms }: Present): Declared {
  const declared = groups.filter((group) => group.declared);
  return {
    groups: Object.fromEntries(declared.map((group) => [group.group, bodyOf(group)])),
    vms: Object.fromEntries(vms.flatMap(({ vmId, declared: body }) => (body === undefined ? [] : [[vmId, body]]))),
  };
}

/** The body that a shown policy comes from, without what is so by default. */
export function bodyOf({ policy }: Pick<GroupJson, 'policy'>): GroupBody {
  const { drain, ...rest } = policy;
  const shown: Record<string, unknown> = drain === null ? rest : { ...rest, drain };
  const usual: Record<string, unknown> = describePolicy({});
  const own = Object.entries(shown).filter(([name, value]) => differences(usual[name], value).length > 0);
  // The cast holds: what is shown has the schemas of a body, but for `drain: null`, which is left out.
  return Object.fromEntries(own) as GroupBody;
}
