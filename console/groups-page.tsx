/** Every group in a line. */
import type { JSX } from 'preact';
import type { GroupJson } from '../core/contract/answers.ts';
import { LIMIT_MAX } from '../core/contract/query.ts';
import { ROUTES } from '../core/contract/routes.ts';
import { groupState, groupTone } from '../present/groups.ts';
import { State } from './mark-shape.tsx';
import { Sentence } from './moment.tsx';
import { Link } from './navigation.tsx';
import { api, bodyOf } from './session.ts';
import { useThing } from './thing.tsx';

/** All groups, page by page. */
export async function allGroups(): Promise<GroupJson[]> {
  const found: GroupJson[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: String(LIMIT_MAX), ...(cursor === undefined ? {} : { cursor }) };
    const page: { items: GroupJson[]; cursor?: string } = bodyOf(await api.call(ROUTES.listGroups, { query }));
    found.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return found;
}

export function GroupsPage(): JSX.Element {
  const { data } = useThing<GroupJson[]>('groups', async () => {
    const all = await allGroups();
    return { data: all, moving: all.some(({ underWay }) => underWay.length > 0) };
  }).value;
  return (
    <main>
      <h1>Groups</h1>
      {data === null ? (
        <p class="calm">Looking …</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Groups">
          <table>
            <thead>
              <tr>
                <th scope="col">Group</th>
                <th scope="col">State</th>
                <th scope="col">Nodes</th>
                <th scope="col">Under way</th>
                <th scope="col">Limit</th>
                <th scope="col">Why, and what next</th>
              </tr>
            </thead>
            <tbody>
              {data.map((group) => (
                <tr key={group.group}>
                  <td class="id">
                    <Link to={{ name: 'group', id: group.group }}>{group.group}</Link>
                  </td>
                  <td>
                    <State tone={groupTone(group)} text={groupState(group)} />
                  </td>
                  <td>{group.memberCount ?? '?'}</td>
                  <td>{group.underWay.length}</td>
                  <td>{group.limit ?? 'unlimited'}</td>
                  <td class="why">
                    <Sentence text={group.explanation} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </main>
  );
}
