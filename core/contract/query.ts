/** The names that a query may have, and what each may say, as the API's document shows it. */
import { INSTANCE_ID_PATTERN, NAME_PATTERN, NODE_ID_PATTERN } from '../kit/ids.ts';

/** How many things a page of a list holds. */
export const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 200;

export type QueryParameter = {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Without it the call is refused. */
  readonly required?: true;
};

export const QUERY_PARAMETERS = {
  limit: { schema: { type: 'integer', minimum: 1, maximum: LIMIT_MAX } },
  cursor: { schema: { type: 'string', description: 'as the page before gave it; anything else is refused' } },
  group: { schema: { type: 'string', pattern: NAME_PATTERN } },
  host: { schema: { type: 'string', pattern: NODE_ID_PATTERN } },
  force: { schema: { type: 'string', enum: ['', 'true', 'false'], description: 'alone it means true' } },
  instanceId: { schema: { type: 'string', pattern: INSTANCE_ID_PATTERN }, required: true },
} as const satisfies Readonly<Record<string, QueryParameter>>;
export type QueryName = keyof typeof QUERY_PARAMETERS;

/** What the ids in a path are. */
export const PATH_PARAMETERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  nodeId: { type: 'string', pattern: NODE_ID_PATTERN },
  vmId: { type: 'string', pattern: NAME_PATTERN },
  group: { type: 'string', pattern: NAME_PATTERN },
};
