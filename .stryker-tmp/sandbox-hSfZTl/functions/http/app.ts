/** The HTTP application: the same in Lambda, on the laptop and in the simulation. */
// @ts-nocheck

import { Hono, type Context } from 'hono';
import type { Problem } from '../../core/contract.ts';
import { API_VERSION } from '../../core/names.ts';
import type { ControlPlane, EventLog } from '../ports.ts';
import { ContentionError } from '../turn.ts';
import { type Caller, callerOf, type IdentityRules } from './identity.ts';
import { problem, ProblemError } from './problem.ts';
import { ROUTES } from './routes.ts';

/** What the event around a request carries; `iam` is the authorizer's block. */
export type AppEnvironment = { Bindings: { iam?: unknown; caller?: Caller } };

export function createApp(plane: ControlPlane, log: EventLog, rules: IdentityRules): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  for (const route of ROUTES) {
    app.on(route.method, route.path, async (c) => {
      const body = route.method === 'GET' ? '' : await c.req.text();
      const caller = callerOf(c.env.iam, rules);
      const request = { params: c.req.param(), query: new URL(c.req.url).searchParams, body, caller };
      const answer = await route.serve(plane, request, log);
      // The statuses of the route table are ordinary HTTP statuses with a body.
      return c.json({ api: API_VERSION, ...answer.body }, answer.status as 200 | 201 | 202);
    });
  }
  app.notFound((c) => {
    const known = ROUTES.some((route) => samePath(route.path, c.req.path));
    return known
      ? problemAnswer(c, problem(405, 'MethodNotAllowed', `${c.req.method} is not a method of ${c.req.path}`))
      : problemAnswer(
          c,
          problem(404, 'RouteNotFound', `there is no ${c.req.path}; GET /v1/openapi.json lists the calls`),
        );
  });
  app.onError((error, c) => {
    if (error instanceof ProblemError) return problemAnswer(c, error.problem);
    if (error instanceof ContentionError) {
      return problemAnswer(
        c,
        problem(503, 'Busy', 'other writers were faster each time; nothing was changed, try again'),
      );
    }
    plane.telemetry.warn('a request failed', { path: c.req.path, error: error.stack ?? String(error) });
    return problemAnswer(
      c,
      problem(500, 'Internal', 'something failed that should not; it is logged, and the call may be repeated'),
    );
  });
  return app;
}

function problemAnswer(c: Context, { status, ...rest }: Problem): Response {
  return c.body(JSON.stringify({ api: API_VERSION, ...rest, status }), status as 400, {
    'content-type': 'application/problem+json',
  });
}

function samePath(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, index) => part.startsWith(':') || part === given[index]);
}
