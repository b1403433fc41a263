/** The OpenAPI 3.1 document, generated from the schemas that validate (DESIGN section 6). */
import * as z from 'zod/mini';
import { API_VERSION } from '../../core/contract/names.ts';
import { PATH_PARAMETERS, QUERY_PARAMETERS, type QueryName, type QueryParameter } from '../../core/contract/query.ts';
import { isAgents, parametersOf, type Route } from '../../core/contract/route.ts';
import { ROUTE_ANSWERS, type RouteAnswer } from '../../core/contract/route-answers.ts';
import { ROUTE_NAMES, type RouteName, ROUTES } from '../../core/contract/routes.ts';
import { nameOf, namedSchemas, refTo } from '../../core/contract/schemas.ts';
import { linksOf } from './openapi-links.ts';

type Json = Record<string, unknown>;
type OpenapiDocument = Omit<RouteAnswer<'getOpenapi'>, 'api'>;

const TAGS = [
  { name: 'agents', description: 'What an agent calls, for its own node' },
  { name: 'nodes', description: 'Machines and their updates' },
  { name: 'groups', description: 'Nodes that share a policy' },
  { name: 'vms', description: 'VMs and their instances' },
  { name: 'fleet', description: 'Everything at once' },
];

/** Where a reader, and a generated client, finds a call. */
function tagOf(route: Route): string {
  if (isAgents(route)) return 'agents';
  const noun = route.path.split('/')[2];
  return TAGS.find(({ name }) => name === noun)?.name ?? 'fleet';
}

/** Every route may refuse a request or an identity, be throttled, or be out of luck with a race. */
const ALWAYS = [400, 403, 413, 429, 500, 503];

export function openapiDocument(): OpenapiDocument {
  const paths: Record<string, Json> = {};
  for (const id of ROUTE_NAMES) {
    const route: Route = ROUTES[id];
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(id, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdoff',
      version: API_VERSION,
      description:
        'Keeps fleets of nodes updated and VMs running, and makes crash loops safe. Every call is signed with SigV4 for execute-api.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ sigv4: [] }],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: {
        sigv4: { type: 'apiKey', name: 'Authorization', in: 'header', description: 'AWS Signature Version 4' },
      },
      schemas: namedSchemas(),
    },
  };
}

function operation(id: RouteName, route: Route): Json {
  const inPath = parametersOf(route);
  const statuses = [...new Set([...route.statuses, ...ALWAYS, ...(inPath.length === 0 ? [] : [404])])];
  const shownBody = route.body === undefined ? null : shape(route.body);
  return {
    operationId: id,
    tags: [tagOf(route)],
    summary: route.summary,
    description: isAgents(route) ? 'For agents: the identity must be the node itself.' : 'For operators.',
    parameters: [
      ...inPath.map((name) => ({
        name,
        in: 'path',
        required: true,
        schema: PATH_PARAMETERS[name] ?? { type: 'string' },
      })),
      ...(route.query ?? []).map(queryParameter),
    ],
    ...(shownBody === null
      ? {}
      : {
          requestBody: { required: needsBody(route), content: { 'application/json': { schema: shownBody } } },
        }),
    responses: Object.fromEntries(
      statuses.sort((a, b) => a - b).map((status) => [String(status), status < 300 ? done(id) : refusal(status)]),
    ),
  };
}

function queryParameter(name: QueryName): Json {
  const { schema, required }: QueryParameter = QUERY_PARAMETERS[name];
  return { name, in: 'query', required: required === true, schema };
}

/** A verb that says nothing needs no body; what is put replaces what was there, so that a forgotten one is refused. */
const needsBody = ({ method, body }: Route): boolean =>
  method === 'PUT' || (body !== undefined && !z.safeParse(body, {}).success);

/** By its name. One without is written out, so that a generated client makes a name up; test/contract asks for one. */
function shape(schema: z.core.$ZodType): Json {
  const name = nameOf(schema);
  if (name !== undefined) return { $ref: refTo(name) };
  const { $schema: _dialect, ...written } = z.toJSONSchema(schema, { io: 'input' });
  return written;
}

function done(id: RouteName): Json {
  const links = linksOf(id, ROUTES);
  return {
    description: 'Done',
    content: { 'application/json': { schema: shape(ROUTE_ANSWERS[id]) } },
    ...(links === null ? {} : { links }),
  };
}

const PROBLEM_CONTENT = { 'application/problem+json': { schema: { $ref: refTo('Problem') } } };
const GATEWAY_CONTENT = { 'application/json': { schema: { $ref: refTo('GatewayAnswer') } } };
/** What API Gateway answers itself: a broken request, signature or policy, a body over 10 MB, a limit, a time-out. */
const FROM_GATEWAY = [400, 403, 413, 429, 500, 503];

const refusal = (status: number): Json => ({
  description: 'Refused',
  content: {
    ...(status === 429 ? {} : PROBLEM_CONTENT),
    ...(FROM_GATEWAY.includes(status) ? GATEWAY_CONTENT : {}),
  },
});
