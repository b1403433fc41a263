/** Every view has an address, and every address a view: links can be sent to somebody else. */

export const GROUPINGS = ['group', 'host', 'zone'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export type FleetView = {
  readonly name: 'fleet';
  readonly by: Grouping;
  readonly show: 'marks' | 'list';
  /** Only what is in this state; empty: all. */
  readonly state: string;
  readonly version: string;
  /** Part of an id. */
  readonly find: string;
};
export type View =
  | FleetView
  | { readonly name: 'node'; readonly id: string }
  | { readonly name: 'vm'; readonly id: string }
  | { readonly name: 'group'; readonly id: string }
  | { readonly name: 'groups' }
  | { readonly name: 'events' }
  | { readonly name: 'unknown'; readonly path: string };

export const FLEET: FleetView = { name: 'fleet', by: 'group', show: 'marks', state: '', version: '', find: '' };

/** @param path with its query, as the browser shows it */
export function viewOf(path: string): View {
  const { pathname, searchParams } = new URL(path, 'http://page');
  const [, first = '', second = '', ...rest] = pathname.split('/');
  const id = decoded(second);
  if (rest.length > 0 || id === null) return { name: 'unknown', path: pathname };
  if (id !== '') {
    if (first === 'nodes') return { name: 'node', id };
    if (first === 'vms') return { name: 'vm', id };
    if (first === 'groups') return { name: 'group', id };
    return { name: 'unknown', path: pathname };
  }
  switch (first) {
    case '':
      return {
        name: 'fleet',
        by: GROUPINGS.find((one) => one === searchParams.get('by')) ?? FLEET.by,
        show: searchParams.get('show') === 'list' ? 'list' : 'marks',
        state: searchParams.get('state') ?? '',
        version: searchParams.get('version') ?? '',
        find: searchParams.get('find') ?? '',
      };
    case 'groups':
      return { name: 'groups' };
    case 'events':
      return { name: 'events' };
    default:
      return { name: 'unknown', path: pathname };
  }
}

/** The address of a view. */
export function addressOf(view: View): string {
  switch (view.name) {
    case 'fleet':
      return fleetAddress(view);
    case 'node':
      return `/nodes/${encodeURIComponent(view.id)}`;
    case 'vm':
      return `/vms/${encodeURIComponent(view.id)}`;
    case 'group':
      return `/groups/${encodeURIComponent(view.id)}`;
    case 'groups':
    case 'events':
      return `/${view.name}`;
    case 'unknown':
      return view.path;
  }
}

/** What is as usual is left out. */
function fleetAddress(view: FleetView): string {
  const query = new URLSearchParams();
  for (const name of ['by', 'show', 'state', 'version', 'find'] as const) {
    if (view[name] !== FLEET[name]) query.set(name, view[name]);
  }
  const text = query.toString();
  return text === '' ? '/' : `/?${text}`;
}

/** Null: no text at all, as `%` alone. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
