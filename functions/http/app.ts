/** The HTTP application: the same in Lambda, on the laptop and in the simulation. */
import { Hono, type Context } from 'hono';
import type { Problem } from '../../core/contract/answers.ts';
import { API_VERSION } from '../../core/contract/names.ts';
import type { Route } from '../../core/contract/route.ts';
import { ROUTE_NAMES, type RouteName, ROUTES } from '../../core/contract/routes.ts';
import type { ControlPlane, EventLog } from '../ports.ts';
import { NOT_RECOVERED } from '../operations/home.ts';
import { ContentionError } from '../turn.ts';
import { ItemFormatError } from '../unreadable.ts';
import { type Caller, callerOf, type IdentityRules } from './identity.ts';
import { HANDLERS } from './handlers.ts';
import { problem, ProblemError } from './problem.ts';
import { readRequest } from './read-request.ts';

/** What the event around a request carries; `iam` is the authorizer's block. */
export type AppEnvironment = { Bindings: { iam?: unknown; caller?: Caller } };

/** @param isOpen false while the table is an older copy that was not recovered: only looking and `recover` are let through */
export function createApp(
  plane: ControlPlane,
  log: EventLog,
  rules: IdentityRules,
  isOpen: () => Promise<boolean> = () => Promise.resolve(true),
): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  const serve = async <N extends RouteName>(name: N, c: Context<AppEnvironment>): Promise<Response> => {
    const route: Route = ROUTES[name];
    const body = route.method === 'GET' ? '' : await c.req.text();
    const caller = callerOf(c.env.iam, rules);
    const query = new URL(c.req.url).searchParams;
    const request = readRequest(name, { params: c.req.param(), query, body, caller });
    if (!servesRestored(route) && !(await isOpen()))
      throw new ProblemError(problem(503, 'NotRecovered', NOT_RECOVERED));
    const answer = await HANDLERS[name](plane, request, log);
    // A route's successes are ordinary HTTP statuses with a body.
    return c.json(route.bare === true ? answer.body : { api: API_VERSION, ...answer.body }, answer.status as 200);
  };
  for (const name of ROUTE_NAMES) app.on(ROUTES[name].method, ROUTES[name].path, (c) => serve(name, c));
  app.notFound((c) => {
    const methods = methodsOf(c.req.path);
    return methods.length > 0
      ? problemAnswer(c, problem(405, 'MethodNotAllowed', `${c.req.path} takes ${methods.join(', ')}`), {
          allow: methods.join(', '),
        })
      : problemAnswer(
          c,
          problem(404, 'RouteNotFound', `there is no ${c.req.path}; GET /v1/openapi.json lists the calls`),
        );
  });
  app.onError((error, c) => problemAnswer(c, problemOf(plane, c.req.path, error)));
  return app;
}

/** What a caller is told of an error; one that should not have been is logged. */
export function problemOf(plane: Pick<ControlPlane, 'telemetry'>, path: string, error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof ContentionError)
    return problem(503, 'Busy', 'other writers were faster each time; nothing was changed, try again');
  if (error instanceof ItemFormatError) {
    plane.telemetry.warn('a request met an item that cannot be read', { path, error: error.message });
    return problem(500, 'ItemUnreadable', `${error.message}. Nothing was changed.`);
  }
  if (isThrottled(error)) {
    plane.telemetry.warn('a request was throttled by AWS for longer than it could wait', {
      path,
      error: String(error),
    });
    return problem(
      503,
      'Throttled',
      'AWS throttled the table for longer than a request can wait; nothing was changed, try again in some seconds. If it lasts, the alarm TableThrottles rings and its runbook says what to do',
    );
  }
  const detail = { path, error: error instanceof Error ? (error.stack ?? String(error)) : String(error) };
  plane.telemetry.warn('a request failed', detail);
  return problem(500, 'Internal', 'something failed that should not; it is logged, and the call may be repeated');
}

/** What AWS says when it would do the same a little later (botocore's list of throttling errors). */
const THROTTLES: readonly string[] = [
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'Throttling',
  'RequestLimitExceeded',
  'ThrottledException',
  'TooManyRequestsException',
];

const isThrottled = (error: unknown): boolean => error instanceof Error && THROTTLES.includes(error.name);

/** Seconds after which a caller who was answered 503 may try again. */
const RETRY_AFTER = '5';

function problemAnswer(c: Context, { status, ...rest }: Problem, headers: Record<string, string> = {}): Response {
  return c.body(JSON.stringify({ api: API_VERSION, ...rest, status }), status as 400, {
    ...(status === 503 ? { 'retry-after': RETRY_AFTER } : {}),
    ...headers,
    'content-type': 'application/problem+json',
  });
}

/** Looking changes nothing, whatever copy of the table it looks at. */
const servesRestored = (route: Route): boolean => route.who === 'viewer' || route.whileRestored === true;

/** What a path takes; HEAD is a GET without its body. */
function methodsOf(path: string): string[] {
  const routes = ROUTE_NAMES.map((name): Route => ROUTES[name]);
  const methods = new Set<string>(routes.filter((route) => samePath(route.path, path)).map(({ method }) => method));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

/** A part that is empty names nothing: `/v1/nodes/` is no node. */
function samePath(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  );
}
