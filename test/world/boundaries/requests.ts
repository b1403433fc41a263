/** Calls of the API: through the whole application, or straight to the function of their route. */
import type { createApp } from '../../../functions/http/app.ts';
import { callerOf } from '../../../functions/http/identity.ts';
import { ProblemError } from '../../../functions/http/problem.ts';
import { HANDLERS } from '../../../functions/http/handlers.ts';
import { type RawRequest, readRequest } from '../../../functions/http/read-request.ts';
import { ROUTE_NAMES, type RouteName, ROUTES } from '../../../core/contract/routes.ts';
import type { ControlPlane } from '../../../functions/ports.ts';
import { log } from './plane.ts';

export type Answer = { status: number; body: unknown };
export type Serve = (method: string, path: string, body: unknown, iam: { userArn: string }) => Promise<Answer>;

export const RULES = { accountId: '000000000000', nodeRoles: ['HoldoffNode'] };

const textOf = (body: unknown): string => (body === undefined ? '' : JSON.stringify(body));

export function throughApp(app: ReturnType<typeof createApp>): Serve {
  return async (method, path, body, iam) => {
    const init: RequestInit = method === 'GET' ? { method } : { method, body: textOf(body) };
    const response = await app.request(path, init, { iam });
    return { status: response.status, body: await response.json() };
  };
}

/** @throws what the application would answer with 500 */
export function throughRoute(plane: ControlPlane): Serve {
  return async (method, path, body, iam) => {
    const found = find(method, path);
    if (found === null) throw new Error(`no route for ${method} ${path}`);
    const query = new URLSearchParams(path.split('?')[1] ?? '');
    const request = { params: found.params, query, body: textOf(body), caller: callerOf(iam, RULES) };
    try {
      return await handle(plane, found.name, request);
    } catch (error) {
      if (error instanceof ProblemError) return { status: error.problem.status, body: error.problem };
      throw error;
    }
  };
}

const handle = <N extends RouteName>(plane: ControlPlane, name: N, request: RawRequest): Promise<Answer> =>
  HANDLERS[name](plane, readRequest(name, request), log);

function find(method: string, path: string): { name: RouteName; params: Record<string, string> } | null {
  const given = (path.split('?')[0] ?? '').split('/');
  for (const name of ROUTE_NAMES) {
    const route = ROUTES[name];
    const wanted = route.path.split('/');
    if (route.method !== method || wanted.length !== given.length) continue;
    if (!wanted.every((part, at) => part.startsWith(':') || part === given[at])) continue;
    const params = wanted.flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), given[at] ?? '']] : []));
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
