import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpRequest } from '../../client/client.ts';
import { type PageServer, startPageServer, USUAL_PAGE_PORT } from '../../client/page-server.ts';

const ENDPOINT = 'https://api.example.com/live';

type Given = { method?: string; path?: string; headers?: OutgoingHttpHeaders; body?: string };
type Got = { status: number; headers: IncomingHttpHeaders; text: string };

describe('the server of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdoff-page-'));
  const passed: HttpRequest[] = [];
  let answers: () => Promise<{ status: number; text: string }>;
  let server: PageServer;

  beforeAll(async () => {
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Holdoff</title>');
    writeFileSync(join(folder, 'console.js'), 'export {};');
    answers = () => Promise.resolve({ status: 200, text: '{"api":"1.0"}' });
    server = await startPageServer({
      endpoint: ENDPOINT,
      sign: () => Promise.resolve({ authorization: 'signed' }),
      transport: (one) => {
        passed.push(one);
        return answers();
      },
      pageDir: folder,
      port: 0,
    });
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const port = (): number => Number(new URL(server.origin).port);
  const token = (): string => server.address.split('#token=')[1] ?? '';

  /** As a program sends it: any header may be given, Host too. */
  function send({ method = 'GET', path = '/v1/summary', headers = {}, body }: Given): Promise<Got> {
    return new Promise((done, failed) => {
      const sent = request({ host: '127.0.0.1', port: port(), method, path, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('end', () => done({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      sent.once('error', failed);
      sent.end(body);
    });
  }
  const ours = (): OutgoingHttpHeaders => ({
    'x-holdoff-token': token(),
    origin: server.origin,
    'sec-fetch-site': 'same-origin',
  });
  const codeOf = ({ text }: Got): unknown => (JSON.parse(text) as { code?: unknown }).code;

  test("its own page's request is signed and passed on with its query and body", async () => {
    passed.length = 0;
    const listed = await send({ path: '/v1/nodes?limit=200&group=web', headers: ours() });
    const held = await send({
      method: 'POST',
      path: '/v1/nodes/i-0123456789abcdef0/hold',
      headers: ours(),
      body: '{}',
    });

    expect([listed.status, held.status]).toEqual([200, 200]);
    expect(passed.map(({ method, url, headers, body }) => [method, url.href, headers['authorization'], body])).toEqual([
      ['GET', `${ENDPOINT}/v1/nodes?limit=200&group=web`, 'signed', null],
      ['POST', `${ENDPOINT}/v1/nodes/i-0123456789abcdef0/hold`, 'signed', '{}'],
    ]);
  });

  test.each<[what: string, change: () => OutgoingHttpHeaders, status: number, code: string]>([
    ['a name rebound to 127.0.0.1', () => ({ host: `evil.example:${port()}` }), 421, 'NotThisHost'],
    ['another port of this machine as Host', () => ({ host: '127.0.0.1:1' }), 421, 'NotThisHost'],
    ['another origin', () => ({ origin: 'https://evil.example' }), 403, 'NotThisPage'],
    ['another port of this machine as origin', () => ({ origin: 'http://127.0.0.1:8080' }), 403, 'NotThisPage'],
    ['a sandboxed frame', () => ({ origin: 'null' }), 403, 'NotThisPage'],
    ['a form of another site', () => ({ 'sec-fetch-site': 'cross-site' }), 403, 'NotThisPage'],
    ['a page on another port', () => ({ 'sec-fetch-site': 'same-site' }), 403, 'NotThisPage'],
    ['an address typed into the browser', () => ({ 'sec-fetch-site': 'none' }), 403, 'NotThisPage'],
    ['no token', () => ({ 'x-holdoff-token': '' }), 403, 'TokenNeeded'],
    ['a token of an earlier run', () => ({ 'x-holdoff-token': 'A'.repeat(32) }), 403, 'TokenNeeded'],
  ])('nothing is signed for %s', async (_what, change, status, code) => {
    passed.length = 0;
    for (const method of ['GET', 'POST']) {
      const path = method === 'GET' ? '/v1/summary' : '/v1/groups/web/pause';
      const got = await send({ method, path, headers: { ...ours(), ...change() } });
      expect([got.status, codeOf(got)]).toEqual([status, code]);
    }
    expect(passed).toEqual([]);
  });

  test('a program without a browser needs the token, and no more', async () => {
    expect((await send({})).status).toBe(403);
    expect((await send({ headers: { 'x-holdoff-token': token() } })).status).toBe(200);
  });

  test('no preflight is answered, so that no other origin may send the header', async () => {
    const got = await send({ method: 'OPTIONS', headers: { origin: 'https://evil.example' } });
    expect(got.status).toBe(403);
    expect(got.headers['access-control-allow-origin']).toBeUndefined();
  });

  test.each([
    ['POST', '/v1/nodes/i-0123456789abcdef0/reports'],
    ['GET', '/v1/nodes/i-0123456789abcdef0/../../x'],
    ['DELETE', '/v1/summary'],
    ['GET', '/v1/vms/web/launch?instanceId=0123456789abcdef'],
  ])('%s %s is no call of a person and is not signed', async (method, path) => {
    passed.length = 0;
    expect((await send({ method, path, headers: ours() })).status).toBeGreaterThanOrEqual(400);
    expect(passed).toEqual([]);
  });

  test('a body that the API would not take is not passed on', async () => {
    passed.length = 0;
    const body = `"${'x'.repeat(256 * 1024)}"`;
    expect((await send({ method: 'PUT', path: '/v1/groups/web', headers: ours(), body })).status).toBe(413);
    expect(passed).toEqual([]);
  });

  test('a control plane that does not answer is said with its reason', async () => {
    answers = () => Promise.reject(new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') }));
    const got = await send({ headers: ours() });
    answers = () => Promise.resolve({ status: 200, text: '{}' });

    expect(got.status).toBe(502);
    expect(codeOf(got)).toBe('ControlPlaneUnreachable');
    expect(got.text).toContain('connect ECONNREFUSED');
  });

  test('the page comes at every address of a view, and its policy allows nothing inline and nobody else', async () => {
    for (const path of ['/', '/nodes/i-0123456789abcdef0', '/vms/a.b', '/groups/web?x=1']) {
      const got = await send({ path });
      expect([got.status, got.text]).toEqual([200, '<!doctype html><title>Holdoff</title>']);
      const policy = String(got.headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(got.headers['cross-origin-resource-policy']).toBe('same-origin');
    }
    expect((await send({ path: '/console.js' })).headers['content-type']).toContain('text/javascript');
    expect((await send({ method: 'POST', path: '/' })).status).toBe(405);
  });

  test('neither page nor answers are given to a rebound name', async () => {
    const got = await send({ path: '/', headers: { host: `evil.example:${port()}` } });
    expect([got.status, got.text.includes('<title>')]).toEqual([421, false]);
  });

  test('the token is never in what the server gives out', async () => {
    for (const path of ['/', '/console.js', '/v1/summary']) {
      const got = await send({ path });
      expect(JSON.stringify(got)).not.toContain(token());
    }
  });

  test('the usual port gives way to a free one when it is taken; a port that was asked for does not', async () => {
    const taken = createServer();
    const isFree = await new Promise<boolean>((done) => {
      taken.once('error', () => done(false));
      taken.listen(USUAL_PAGE_PORT, '127.0.0.1', () => done(true));
    });
    const options = {
      endpoint: ENDPOINT,
      sign: () => Promise.resolve({}),
      transport: () => Promise.resolve({ status: 200, text: '' }),
      pageDir: folder,
    };
    const other = await startPageServer({ ...options, port: USUAL_PAGE_PORT });
    expect(other.origin).not.toBe(`http://127.0.0.1:${USUAL_PAGE_PORT}`);
    await other.close();
    await expect(startPageServer({ ...options, port: port() })).rejects.toThrow('EADDRINUSE');
    if (isFree) await new Promise((done) => taken.close(done));
  });
});
