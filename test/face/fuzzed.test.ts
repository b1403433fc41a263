/** What fuzzing the API, and preparing for it, found: each kind stays found. */
import { beforeEach, describe, expect, test } from 'vitest';
import { DURATION_PATTERN, POSITIVE_DURATION_PATTERN } from '../../core/kit/duration-pattern.ts';
import { headOf, isWellFormed, tailOf } from '../../core/kit/text.ts';
import { parseDuration } from '../../core/kit/time.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { OPERATOR } from '../../world/environment.ts';
import { exec, HOST, Scene } from '../plane/scene.ts';

let scene: Scene;
beforeEach(async () => {
  scene = new Scene();
  await scene.node(HOST, { state: 'Idle' });
  await scene.operator('PUT', '/v1/vms/web', exec('Always'));
});

const cursor = (text: string): string => Buffer.from(text).toString('base64url');

describe('refused with 400, never 500', () => {
  test.each([
    ['/v1/nodes?limit=0x10'],
    ['/v1/nodes?limit=1e2'],
    ['/v1/nodes?limit=%205'],
    [`/v1/nodes?cursor=${cursor('nodes:')}`],
    [`/v1/vms?cursor=${cursor('vms:a b')}`],
    [`/v1/events?cursor=${cursor('events:-271821-04-20T00:00:00.000Z#x')}`],
    [`/v1/events?cursor=${cursor('events:nonsense')}`],
  ])('GET %s', async (path) => {
    expect((await scene.operator('GET', path)).status).toBe(400);
  });

  test('an uptime that no table keeps', async () => {
    expect((await scene.node(HOST, { state: 'Idle', uptime: 1e300 })).status).toBe(400);
  });

  test('half a surrogate pair of an operator; an agent’s is replaced', async () => {
    const launch = { type: 'libvirt', domain: 'a\ud800' };
    expect((await scene.operator('PUT', '/v1/vms/web', { ...exec('Always'), launch })).status).toBe(400);
    const report = { phase: 'Failed', cause: 'LaunchFailed', message: 'a\ud800b' };
    expect((await scene.vm('web', report)).status).toBe(200);
    expect(await scene.seen('vms', 'web', 'lastFailure.message')).toBe('a\uFFFDb');
  });
});

test('a jitter too small for the table is none', async () => {
  const backoff = { base: '10s', factor: 2, cap: '300s', jitter: 1e-200 };
  expect((await scene.operator('PUT', '/v1/vms/web', { ...exec('Always'), backoff })).status).toBe(200);
});

test('cutting a text keeps pairs whole', () => {
  expect(headOf('ab😀', 3)).toBe('ab');
  expect(tailOf('😀ab', 3)).toBe('ab');
  expect(isWellFormed(headOf('😀'.repeat(9), 7))).toBe(true);
});

test('a length counts characters', async () => {
  const launch = { type: 'libvirt', domain: '😀'.repeat(256) };
  expect((await scene.operator('PUT', '/v1/vms/web', { ...exec('Always'), launch })).status).toBe(200);
});

test('the document’s durations are those that are taken', () => {
  const [any, positive] = [new RegExp(DURATION_PATTERN), new RegExp(POSITIVE_DURATION_PATTERN)];
  for (const text of [
    '0s',
    '0.000h',
    '1s',
    '1.5h',
    '365d',
    '365.1d',
    '366d',
    '8760h',
    '8761h',
    '525600m',
    '31536001s',
  ]) {
    expect([text, any.test(text)]).toEqual([text, parseDuration(text) !== null]);
    expect([text, positive.test(text)]).toEqual([text, (parseDuration(text) ?? 0) > 0]);
  }
});

test('the document names an answer for every call, and 405 names the methods', async () => {
  const { body } = await scene.operator('GET', '/v1/openapi.json');
  const paths = valueAt(body, 'paths');
  expect(JSON.stringify(paths)).not.toContain('"schema":{}');
  const refused = await scene.world.call('PATCH', '/v1/vms/web', {}, OPERATOR);
  expect(refused).toMatchObject({ status: 405, body: { code: 'MethodNotAllowed' } });
});
