/** The OpenAPI 3.1 document, generated from the schemas that validate (DESIGN section 6). */
// @ts-nocheck

import * as z from 'zod/mini';
import { API_VERSION } from '../../core/names.ts';
import type { Route } from './route.ts';

type Json = Record<string, unknown>;

const PARAMETERS: Readonly<Record<string, Json>> = {
  nodeId: { type: 'string', pattern: '^(?:i-(?:[0-9a-f]{8}|[0-9a-f]{17})|mi-[0-9a-f]{17})$' },
  vmId: { type: 'string', pattern: '^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$' },
  group: { type: 'string', pattern: '^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$' },
  limit: { type: 'integer', minimum: 1, maximum: 200 },
  cursor: { type: 'string' },
  force: { type: 'string', enum: ['true', 'false'] },
  instanceId: { type: 'string' },
  host: { type: 'string' },
};

const PROBLEM: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'what a program can switch on' },
    detail: { type: 'string' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
    },
  },
};

const ANSWER: Json = {
  type: 'object',
  required: ['api'],
  properties: { api: { type: 'string', pattern: String.raw`^1\.\d+$` } },
};

/** Every route may refuse a body, an identity, or be out of luck with a race. */
const ALWAYS = [400, 403, 413, 500, 503];

export function openapiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
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
      schemas: { Problem: PROBLEM, Answer: ANSWER },
    },
  };
}

function operation(route: Route): Json {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].flatMap((match) => (match[1] === undefined ? [] : [match[1]]));
  const statuses = [...new Set([...route.statuses, ...ALWAYS])].sort((a, b) => a - b);
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replaceAll(/[^A-Za-z]+(\w)/g, (_all, letter: string) => letter.toUpperCase())}`,
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
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: bodySchema(route.body) } } } }),
    responses: Object.fromEntries(statuses.map((status) => [String(status), response(status)])),
  };
}

function bodySchema(schema: NonNullable<Route['body']>): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}

const response = (status: number): Json =>
  status < 300
    ? { description: 'Done', content: { 'application/json': { schema: { $ref: '#/components/schemas/Answer' } } } }
    : {
        description: 'Refused',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      };
