/** Calls of the API: through the whole application, or straight to the handler of their route, which takes a third of the time. */
import { ROUTE_NAMES, type RouteName, ROUTES } from '../core/contract/routes.ts';
import { type createApp, problemOf } from '../functions/http/app.ts';
import { HANDLERS } from '../functions/http/handlers.ts';
import { callerOf } from '../functions/http/identity.ts';
import { readRequest } from '../functions/http/read-request.ts';
import type { ControlPlane, EventLog } from '../functions/ports.ts';
import { type Identity, RULES } from './environment.ts';

export type Answer = { status: number; body: unknown };
export type Request = { method: string; path: string; body?: unknown; iam: Identity };
export type Serve = (request: Request) => Promise<Answer>;

const textOf = (body: unknown): string => (body === undefined ? '' : JSON.stringify(body));

export function throughApp(app: ReturnType<typeof createApp>): Serve {
  return async ({ method, path, body, iam }) => {
    const init: RequestInit = method === 'GET' ? { method } : { method, body: textOf(body) };
    const response = await app.request(path, init, iam === null ? {} : { iam });
    const answer: unknown = await response.json();
    return { status: response.status, body: answer };
  };
}

/** Callers are admitted and bodies read as in the application: only HTTP itself is left out. */
export function throughRoute(plane: ControlPlane, log: EventLog): Serve {
  const handle = <N extends RouteName>(name: N, route: Found, { path, body, iam }: Request): Promise<Answer> => {
    const query = new URLSearchParams(path.split('?')[1] ?? '');
    const raw = { params: route.params, query, body: textOf(body), caller: callerOf(iam, RULES) };
    return HANDLERS[name](plane, readRequest(name, raw), log);
  };
  return async (request) => {
    const found = find(request.method, request.path);
    if (found === null) throw new Error(`no route for ${request.method} ${request.path}`);
    try {
      return await handle(found.name, found, request);
    } catch (error) {
      const problem = problemOf(plane, request.path, error);
      return { status: problem.status, body: problem };
    }
  };
}

type Found = { name: RouteName; params: Record<string, string> };

const PARTS = ROUTE_NAMES.map((name) => ({ name, method: ROUTES[name].method, parts: ROUTES[name].path.split('/') }));

function find(method: string, path: string): Found | null {
  const given = (path.split('?')[0] ?? '').split('/');
  for (const { name, method: its, parts } of PARTS) {
    if (its !== method || parts.length !== given.length) continue;
    if (!parts.every((part, at) => part.startsWith(':') || part === given[at])) continue;
    const params = parts.flatMap((part, at): [string, string][] =>
      part.startsWith(':') ? [[part.slice(1), given[at] ?? '']] : [],
    );
    return { name, params: Object.fromEntries(params) };
  }
  return null;
}

/** The route that a call takes, as the route table names it; a query is part of the path. */
export function routeOf(method: string, path: string): string {
  const name = find(method, path)?.name;
  const query = path.includes('?') ? ` ?${path.split('?')[1]?.split('=')[0] ?? ''}` : '';
  return `${method} ${name === undefined ? path : ROUTES[name].path}${query}`;
}
