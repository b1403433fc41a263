/**
 * The console's own little server, on 127.0.0.1 alone: it gives out the page, and signs what the page asks of the API with
 * the user's credentials. Any web page can reach a local port, so a request is signed only if it names this server (DNS
 * rebinding), comes from its own page (cross-site requests and forms), and carries the token of this run (everybody else).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { BODY_BYTES_MAX } from '../core/contract/operator-bodies.ts';
import { isAgents, type Route } from '../core/contract/route.ts';
import { ROUTES } from '../core/contract/routes.ts';
import { TOKEN_HEADER } from './page-token.ts';
import type { Transport } from './client.ts';
import type { Signer } from './sign.ts';

export const USUAL_PAGE_PORT = 4681;

export type PageServerOptions = {
  /** Of the control plane, with its stage, without a slash at its end. */
  readonly endpoint: string;
  readonly sign: Signer;
  readonly transport: Transport;
  /** The folder of the built page. */
  readonly pageDir: string;
  /** 0 takes a free one; the usual one gives way to a free one when it is taken. */
  readonly port: number;
};
export type PageServer = {
  /** What a person opens: with the token of this run, in the part of an address that no browser sends. */
  readonly address: string;
  readonly origin: string;
  readonly close: () => Promise<void>;
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Nothing inline, nobody else, and no text that becomes markup: the browser itself refuses it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The calls of people: what the page may ask for. Those of agents are never signed here. */
const CALLS = Object.values(ROUTES)
  .filter((route) => !isAgents(route))
  .map(({ method, path }: Route) => ({ method, path: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`) }));

type Refusal = { readonly status: number; readonly code: string; readonly detail: string };
type Serving = PageServerOptions & { readonly token: string; readonly files: ReadonlyMap<string, Buffer> };

/** Starts to listen. Rejects when the folder of the page cannot be read, or the port cannot be had. */
export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const serving: Serving = {
    ...options,
    token: randomBytes(24).toString('base64url'),
    files: readPage(options.pageDir),
  };
  const server = createServer((request, response) => {
    void answer(serving, request, response).catch((error: unknown) => {
      refuse(response, { status: 500, code: 'PageServerFailed', detail: String(error) });
    });
  });
  const listen = (port: number): Promise<void> =>
    new Promise((done, failed) => {
      server.once('error', failed);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', failed);
        done();
      });
    });
  await listen(options.port).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' || options.port !== USUAL_PAGE_PORT) throw error;
    return listen(0);
  });
  const given = server.address();
  const port = typeof given === 'object' && given !== null ? given.port : options.port;
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    address: `${origin}/#token=${serving.token}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Every file of the built page by its path in an address. */
function readPage(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder).filter((name) => TYPES[extname(name)] !== undefined);
  return new Map(names.map((name) => [`/${name}`, readFileSync(join(folder, name))]));
}

async function answer(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const origin = ownOrigin(request);
  if (origin === null) {
    refuse(response, {
      status: 421,
      code: 'NotThisHost',
      detail: `this server is 127.0.0.1; it does not answer for ${request.headers.host ?? 'no host'}`,
    });
    return;
  }
  const url = new URL(request.url ?? '/', origin);
  if (url.pathname.startsWith('/v1/')) return passOn(serving, { request, response, url, origin });
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuse(response, { status: 405, code: 'MethodNotAllowed', detail: 'a page is only read' });
    return;
  }
  const isFile = extname(url.pathname) !== '' && serving.files.has(url.pathname);
  const name = isFile ? url.pathname : '/index.html';
  const file = serving.files.get(name);
  if (file === undefined || (!isFile && url.pathname.startsWith('/assets/'))) {
    refuse(response, { status: 404, code: 'NotFound', detail: `there is no ${url.pathname}` });
    return;
  }
  response.writeHead(200, { ...SAFE_HEADERS, 'content-type': TYPES[extname(name)] ?? 'application/octet-stream' });
  response.end(request.method === 'HEAD' ? undefined : file);
}

/** A name that leads here but is not ours is another page's, rebound to this address. */
function ownOrigin({ headers, socket }: IncomingMessage): string | null {
  const port = socket.localPort ?? 0;
  const ours = [`127.0.0.1:${port}`, `localhost:${port}`];
  return headers.host !== undefined && ours.includes(headers.host) ? `http://${headers.host}` : null;
}

type Asked = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly origin: string;
};

async function passOn(serving: Serving, { request, response, url, origin }: Asked): Promise<void> {
  const refusal = notOurPage(request, origin) ?? withoutToken(request, serving.token);
  if (refusal !== null) return refuse(response, refusal);
  const call = CALLS.find(({ method, path }) => method === request.method && path.test(url.pathname));
  if (call === undefined) {
    const detail = `${request.method ?? ''} ${url.pathname} is no call of a person; the page makes no other`;
    return refuse(response, { status: 404, code: 'RouteNotFound', detail });
  }
  const read = await readBody(request);
  if (read === null) {
    const detail = `the body is longer than ${BODY_BYTES_MAX} bytes`;
    return refuse(response, { status: 413, code: 'BodyTooLarge', detail });
  }
  const { text: body } = read;
  const target = new URL(serving.endpoint + url.pathname + url.search);
  try {
    const headers = await serving.sign({ method: call.method, url: target, body });
    const { status, text } = await serving.transport({ method: call.method, url: target, headers, body });
    response.writeHead(status, { ...SAFE_HEADERS, 'content-type': 'application/json' });
    response.end(text);
  } catch (error) {
    refuse(response, { status: 502, code: 'ControlPlaneUnreachable', detail: sayFailure(serving.endpoint, error) });
  }
}

/** A browser says where a request comes from, and no script can change that. Programs that say nothing need the token. */
function notOurPage({ headers }: IncomingMessage, origin: string): Refusal | null {
  const site = headers['sec-fetch-site'];
  const isOurs =
    (headers.origin === undefined || headers.origin === origin) && (site === undefined || site === 'same-origin');
  if (isOurs) return null;
  const from = headers.origin ?? site;
  return {
    status: 403,
    code: 'NotThisPage',
    detail: `requests of ${String(from)} are not signed, only the console's own`,
  };
}

function withoutToken({ headers }: IncomingMessage, token: string): Refusal | null {
  const given = Buffer.from(String(headers[TOKEN_HEADER] ?? ''));
  const expected = Buffer.from(token);
  if (given.length === expected.length && timingSafeEqual(given, expected)) return null;
  const detail = 'this page has no key to this run of the console: open the address that it printed when it started';
  return { status: 403, code: 'TokenNeeded', detail };
}

/** Null: it is longer than the API takes. */
async function readBody(request: IncomingMessage): Promise<{ readonly text: string | null } | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  // Node gives a request's body as buffers unless an encoding was set, and none was.
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return null;
    parts.push(part);
  }
  return { text: bytes === 0 ? null : Buffer.concat(parts).toString('utf8') };
}

/** Why nothing came back, with what the system said of it. */
function sayFailure(endpoint: string, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return `${endpoint} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`;
}

function refuse(response: ServerResponse, { status, code, detail }: Refusal): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { ...SAFE_HEADERS, 'content-type': 'application/problem+json' });
  response.end(JSON.stringify({ type: 'about:blank', title: code, status, code, detail }));
}
