import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { transform } from 'esbuild';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSION } from '../../core/contract/names.ts';
import { ROUTE_NAMES } from '../../core/contract/routes.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { OPERATOR, RULES } from '../../world/environment.ts';
import { createApp } from '../../functions/http/app.ts';
import { exec, HOST, Scene } from '../plane/scene.ts';

const scene = new Scene();
let document: unknown;
const namesIn = (value: unknown): string[] => (typeof value === 'object' && value !== null ? Object.keys(value) : []);
beforeAll(async () => {
  const { body } = await scene.operator('GET', '/v1/openapi.json');
  document = body;
});

const cache = resolve(import.meta.dirname, '../../node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'holdoff-client-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the OpenAPI document', { timeout: 120_000 }, () => {
  test('has the keys of OpenAPI 3.1 and no other at its root, and says the version of the API', () => {
    expect(namesIn(document)).toEqual(['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'components']);
    expect(valueAt(document, 'info.version')).toBe(API_VERSION);
  });

  test('is valid for the meta-schema, and for a linter', async () => {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    const checked = await new Validator().validate(file);
    expect(checked.errors).toBeUndefined();
    expect(checked.valid).toBe(true);
    const linter = resolve(import.meta.dirname, '../../node_modules/@redocly/cli/bin/cli.js');
    const linted = spawnSync(process.execPath, [linter, 'lint', file, '--format', 'json'], {
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    });
    expect(valueAt(JSON.parse(linted.stdout.slice(linted.stdout.indexOf('{'))), 'totals')).toEqual({
      errors: 0,
      warnings: 0,
      ignored: 0,
    });
  });

  test('names what a client speaks of, and every operation by its route', () => {
    const names = namesIn(valueAt(document, 'components.schemas'));
    expect(names).toEqual(expect.arrayContaining(['Node', 'Vm', 'Group', 'Event', 'Summary', 'VmBody', 'GroupBody']));
    const ids = [...JSON.stringify(valueAt(document, 'paths')).matchAll(/"operationId":"(\w+)","tags"/g)].map(
      ([, id]) => id,
    );
    expect(ids).toHaveLength(ROUTE_NAMES.length);
    expect(new Set(ids)).toEqual(new Set(ROUTE_NAMES));
  });
});

/** What somebody writes against the generated types; a name that changed does not compile. */
const PROGRAM = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

type Node = components['schemas']['Node'];

export async function use(fetch: (request: Request) => Promise<Response>): Promise<unknown> {
  const client = createClient<paths>({ baseUrl: 'https://holdoff.example', fetch });
  const body: components['schemas']['VmBody'] = {
    hostId: '${HOST}',
    runStrategy: 'Always',
    launch: { type: 'libvirt', domain: 'web' },
  };
  const put = await client.PUT('/v1/vms/{vmId}', { params: { path: { vmId: 'web' } }, body });
  const nodes = await client.GET('/v1/nodes', { params: { query: { limit: 5 } } });
  const items: Node[] = nodes.data?.items ?? [];
  const refused = await client.POST('/v1/vms/{vmId}/start', { params: { path: { vmId: 'none' } }, body: {} });
  const code: string | undefined = refused.error !== undefined && 'code' in refused.error ? refused.error.code : undefined;
  return { status: put.data?.printableStatus, ids: items.map(({ nodeId, phase }) => [nodeId, phase]), code };
}
`;

describe('a TypeScript client generated from it', { timeout: 120_000 }, () => {
  test('is typed as the API answers, and works', async () => {
    writeFileSync(join(folder, 'api.d.ts'), astToString(await openapiTS(JSON.stringify(document))));
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    expect(problemsOf(join(folder, 'program.ts'))).toEqual([]);
    const { code } = await transform(PROGRAM, { loader: 'ts', format: 'esm' });
    writeFileSync(join(folder, 'program.mjs'), code);
    const program: unknown = await import(pathToFileURL(join(folder, 'program.mjs')).href);
    await scene.node(HOST, { state: 'Idle', updateCheck: { result: 'UpToDate' } });
    expect(await run(program)).toEqual({ status: 'Starting', ids: [[HOST, 'Idle']], code: 'VmNotFound' });
  });

  test('a name that the document does not have is found by the compiler', () => {
    writeFileSync(join(folder, 'wrong.ts'), PROGRAM.replace('printableStatus', 'phrase'));
    expect(problemsOf(join(folder, 'wrong.ts')).join()).toContain('phrase');
  });
});

function problemsOf(file: string): string[] {
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

async function run(program: unknown): Promise<unknown> {
  // The program above, just compiled: it exports this one function.
  const { use } = program as { use: (fetch: (request: Request) => Promise<Response>) => Promise<unknown> };
  return use(async (request) => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const answer = await scene.world.call(request.method, pathname + search, body, OPERATOR);
    return Response.json(answer.body, { status: answer.status });
  });
}

describe('what a person asks and is not understood is refused', () => {
  test.each([
    ['/v1/nodes?phase=Idle', 'InvalidQuery', 'limit, cursor, group'],
    ['/v1/summary?group=web', 'InvalidQuery', 'takes none'],
    ['/v1/nodes?limit=1&limit=2', 'InvalidQuery', 'more than once'],
  ])('%s', async (path, code, detail) => {
    const answer = await scene.operator('GET', path);
    expect(answer).toMatchObject({ status: 400, body: { code, detail: expect.stringContaining(detail) } });
  });

  test('/v1/nodes/ names no node, and is no list: 404', async () => {
    for (const method of ['GET', 'DELETE'])
      expect(await scene.operator(method, '/v1/nodes/')).toMatchObject({
        status: 404,
        body: { code: 'RouteNotFound' },
      });
  });

  test('an agent of another version may ask for more than we know', async () => {
    expect(await scene.as(HOST, 'GET', `/v1/nodes/${HOST}/vms?since=1`)).toMatchObject({ status: 200 });
  });

  test.each(['[', '{"a":'])('brackets as deep as fit into a body are 400, never 500: %s', async (open) => {
    const text = open.repeat(Math.floor(250_000 / open.length));
    for (const body of [text, `{"launch":${text}`, `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`])
      for (const path of ['/v1/vms/web', '/v1/groups/web'])
        expect(await raw('PUT', path, body)).toMatchObject({ status: 400, body: { code: 'InvalidJson' } });
    expect(await raw('PUT', '/v1/vms/web', '['.repeat(1e6))).toMatchObject({ status: 413 });
  });

  test('brackets in a text are text', async () => {
    const launch = { type: 'exec', command: '['.repeat(200) + '"' + '{'.repeat(200) };
    expect(await scene.operator('PUT', '/v1/vms/odd', { ...exec('Manual'), launch })).toMatchObject({ status: 201 });
  });
});

async function raw(method: string, path: string, body: string): Promise<{ status: number; body: unknown }> {
  const log = { append: () => Promise.resolve(), read: () => Promise.resolve({ items: [], cursor: null }) };
  const app = createApp(scene.world.plane, log, RULES);
  const response = await app.request(path, { method, body }, { iam: OPERATOR });
  return { status: response.status, body: await response.json() };
}
