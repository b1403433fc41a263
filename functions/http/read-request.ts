/** From what arrived to what a handler is given: caller, ids, names of the query, body, in this order. */
import { isAgents, type Route } from '../../core/contract/route.ts';
import { ROUTES, type RouteName } from '../../core/contract/routes.ts';
import { NAME_RULE, NODE_ID_RULE, type NodeId, parseGroupId, parseNodeId, parseVmId } from '../../core/kit/ids.ts';
import { admit } from './admission.ts';
import { readBody } from './body.ts';
import type { ApiRequest } from './handler.ts';
import type { Caller } from './identity.ts';
import { fail } from './problem.ts';

export type RawRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** As it arrived. */
  readonly body: string;
  readonly caller: Caller;
};

/** @throws {ProblemError} 403 to whom the route does not admit, else 400 or 413 with what is wrong */
export function readRequest<N extends RouteName>(name: N, raw: RawRequest): ApiRequest<N> {
  const route: Route = ROUTES[name];
  const nodeId = parseNodeId(raw.params['nodeId'] ?? '');
  const caller = admit(route.who, raw.caller, nodeId);
  const params = readParameters(raw.params, nodeId);
  if (!isAgents(route)) refuseUnknownQuery(route, raw.query);
  const body = route.body === undefined ? undefined : readBody(raw, route.body, replaced(route));
  // Each part was just read by the schema or parser that the route's own type is inferred from.
  return { params, query: raw.query, body, caller } as ApiRequest<N>;
}

function readParameters(given: RawRequest['params'], nodeId: NodeId | null): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, text] of Object.entries(given)) {
    const id = name === 'nodeId' ? nodeId : name === 'vmId' ? parseVmId(text) : parseGroupId(text);
    if (id === null) throw fail(400, 'InvalidId', NOT_AN_ID[name] ?? `${name} is not a name`);
    params[name] = id;
  }
  return params;
}

const NOT_AN_ID: Readonly<Record<string, string>> = {
  nodeId: `not a node id: it must be ${NODE_ID_RULE}`,
  vmId: `not a VM id: it must be ${NAME_RULE}`,
  group: `not a group name: it must be ${NAME_RULE}`,
};

/** What a person asks for and is not understood is refused, never ignored; an agent of another version may ask for more. */
function refuseUnknownQuery({ query: taken = [] }: Route, query: URLSearchParams): void {
  const known: readonly string[] = taken;
  const names = [...query.keys()];
  const unknown = names.find((name) => !known.includes(name));
  const takes = known.length === 0 ? 'this call takes none' : `this call takes ${known.join(', ')}`;
  if (unknown !== undefined)
    throw fail(400, 'InvalidQuery', `the query has ${JSON.stringify(unknown)}, which is not known here; ${takes}`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw fail(400, 'InvalidQuery', `the query names ${twice} more than once`);
}

/** Which thing a body replaces whole; null for verbs and reports. */
const replaced = ({ method, path }: Route): 'vm' | 'group' | null =>
  method !== 'PUT' ? null : path.includes(':vmId') ? 'vm' : 'group';
