/** What a route is: a call, who may make it, and what answers it. */
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
  /** What its 2xx looks like. */
  answer: z.core.$ZodType;
  statuses: readonly number[];
  /** Also served while the table is a restored copy that was not recovered. */
  whileRestored?: true;
  serve: Serve;
};

/** The parameters in its path, in their order. */
export const parametersOf = ({ path }: Pick<Route, 'path'>): string[] =>
  [...path.matchAll(/:(\w+)/g)].flatMap((match) => (match[1] === undefined ? [] : [match[1]]));

/** Its name in the OpenAPI document. */
export const operationIdOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z]+(\w)/g, (_all, letter: string) => letter.toUpperCase())}`;
