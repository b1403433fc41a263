/** What a route is: a call, who may make it, and what answers it. */
// @ts-nocheck

import type * as z from 'zod/mini';
import type { ControlPlane, EventLog } from '../ports.ts';
import type { ApiRequest } from './requests.ts';

export type ApiAnswer = { status: number; body: Record<string, unknown> };
export type Serve = (plane: ControlPlane, request: ApiRequest, log: EventLog) => Promise<ApiAnswer>;

export type Route = {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** With `:name` for a parameter, as Hono and the OpenAPI generator read it. */
  path: string;
  who: 'node' | 'operator';
  summary: string;
  body?: z.core.$ZodType;
  query?: readonly string[];
  statuses: readonly number[];
  serve: Serve;
};
