/** The OpenAPI 3.1 document, generated from the schemas that validate (DESIGN section 6). */
import * as z from 'zod/mini';
import { INSTANCE_ID_PATTERN, NAME_PATTERN, NODE_ID_PATTERN } from '../../core/kit/ids.ts';
import { API_VERSION } from '../../core/contract/names.ts';
import { GATEWAY_ANSWER, PROBLEM } from './answers.ts';
import { linksOf } from './openapi-links.ts';
import { LIMIT_MAX } from './requests.ts';
import { operationIdOf, parametersOf, type Route } from './route.ts';

type Json = Record<string, unknown>;

const PARAMETERS: Readonly<Record<string, Json>> = {
  nodeId: { type: 'string', pattern: NODE_ID_PATTERN },
  vmId: { type: 'string', pattern: NAME_PATTERN },
  group: { type: 'string', pattern: NAME_PATTERN },
  limit: { type: 'integer', minimum: 1, maximum: LIMIT_MAX },
  cursor: { type: 'string', description: 'as the page before gave it; anything else is refused' },
  force: { type: 'string', enum: ['', 'true', 'false'], description: 'alone it means true' },
  instanceId: { type: 'string', pattern: INSTANCE_ID_PATTERN },
  host: { type: 'string', pattern: NODE_ID_PATTERN },
};

/** Every route may refuse a request or an identity, be throttled, or be out of luck with a race. */
const ALWAYS = [400, 403, 413, 429, 500, 503];

export function openapiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, routes) };
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
    paths,
    components: {
      securitySchemes: {
        sigv4: { type: 'apiKey', name: 'Authorization', in: 'header', description: 'AWS Signature Version 4' },
      },
      schemas: { Problem: answerSchema(PROBLEM), Gateway: answerSchema(GATEWAY_ANSWER) },
    },
  };
}

function operation(route: Route, routes: readonly Route[]): Json {
  const inPath = parametersOf(route);
  const statuses = [...new Set([...route.statuses, ...ALWAYS, ...(inPath.length === 0 ? [] : [404])])];
  const shownBody = route.body === undefined ? null : bodySchema(route.body);
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    description: route.who === 'node' ? 'For agents: the identity must be the node itself.' : 'For operators.',
    parameters: [
      ...inPath.map((name) => ({ name, in: 'path', required: true, schema: PARAMETERS[name] ?? { type: 'string' } })),
      ...(route.query ?? []).map((name) => ({
        name,
        in: 'query',
        required: name === 'instanceId',
        schema: PARAMETERS[name] ?? { type: 'string' },
      })),
    ],
    ...(shownBody === null
      ? {}
      : {
          requestBody: { required: needsBody(route), content: { 'application/json': { schema: shownBody } } },
        }),
    responses: Object.fromEntries(
      statuses
        .sort((a, b) => a - b)
        .map((status) => [String(status), status < 300 ? done(route, routes) : refusal(status)]),
    ),
  };
}

/** A verb that says nothing needs no body; what is put replaces what was there, so that a forgotten one is refused. */
const needsBody = ({ method, body }: Route): boolean =>
  method === 'PUT' || (body !== undefined && !z.safeParse(body, {}).success);

function bodySchema(schema: z.core.$ZodType): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}

/** As input: an answer is open to what a later version adds. */
const answerSchema = bodySchema;

function done(route: Route, routes: readonly Route[]): Json {
  const links = linksOf(route, routes);
  return {
    description: 'Done',
    content: { 'application/json': { schema: answerSchema(route.answer) } },
    ...(links === null ? {} : { links }),
  };
}

const PROBLEM_CONTENT = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
const GATEWAY_CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/Gateway' } } };
/** What API Gateway answers itself: a broken request, signature or policy, a body over 10 MB, a limit, a time-out. */
const FROM_GATEWAY = [400, 403, 413, 429, 500, 503];

const refusal = (status: number): Json => ({
  description: 'Refused',
  content: {
    ...(status === 429 ? {} : PROBLEM_CONTENT),
    ...(FROM_GATEWAY.includes(status) ? GATEWAY_CONTENT : {}),
  },
});
