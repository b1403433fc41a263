/** An API on 127.0.0.1 that checks signatures as IAM does, by its own computation, and answers as it is told. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';

export const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'not-a-real-secret' } as const;
export const REGION = 'us-east-1';

export type Seen = { readonly method: string; readonly path: string; readonly body: unknown };
export type Reply = { readonly status?: number; readonly type?: string; readonly body: unknown };
export type Responder = (request: Seen) => Reply | 'silence';

export type ApiDouble = {
  readonly endpoint: string;
  readonly seen: Seen[];
  readonly close: () => Promise<void>;
  /** The file that `npm start` writes for this API. */
  readonly localFile: string;
};

/** Starts the API on a free port. */
export async function startApi(respond: Responder, { date }: { date?: Date } = {}): Promise<ApiDouble> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    if (date !== undefined) response.setHeader('date', date.toUTCString());
    void text(request).then((body) => {
      if (!isSigned(request, body)) {
        response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Forbidden"}');
        return;
      }
      const json: unknown = body === '' ? undefined : JSON.parse(body);
      const one: Seen = { method: request.method ?? '', path: request.url ?? '', body: json };
      seen.push(one);
      const reply = respond(one);
      if (reply === 'silence') return;
      response.writeHead(reply.status ?? 200, { 'content-type': reply.type ?? 'application/json' });
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
    });
  });
  const port = await listen(server);
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    seen,
    localFile: JSON.stringify({ endpoint, region: REGION, credentials: CREDENTIALS }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** A problem as the API writes it. */
export const problem = (
  status: number,
  code: string,
  detail: string,
  errors?: { path: string; message: string }[],
): Reply => ({
  status,
  type: 'application/problem+json',
  body: { type: 'about:blank', title: code, status, code, detail, ...(errors === undefined ? {} : { errors }) },
});

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;

const sha256 = (data: string): string => createHash('sha256').update(data).digest('hex');
const escape = (part: string): string =>
  encodeURIComponent(part).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

/** SigV4 as AWS documents it, from the request alone. */
function isSigned(request: IncomingMessage, body: string): boolean {
  const [, key, date, region, service, signedHeaders, signature] =
    AUTHORIZATION.exec(request.headers.authorization ?? '') ?? [];
  if (key !== CREDENTIALS.accessKeyId || region !== REGION || service !== 'execute-api') return false;
  if (date === undefined || signedHeaders === undefined || !signedHeaders.split(';').includes('host')) return false;
  const time = String(request.headers['x-amz-date']);
  const url = new URL(request.url ?? '/', 'http://api');
  const path = url.pathname.split('/').map(escape).join('/');
  const query = [...url.searchParams]
    .map((pair) => pair.map(escape).join('='))
    .sort()
    .join('&');
  const headers = signedHeaders.split(';').map((name) => `${name}:${String(request.headers[name])}\n`);
  const canonical = [request.method, path, query, headers.join(''), signedHeaders, sha256(body)].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const signingKey = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${CREDENTIALS.secretAccessKey}`, date));
  return hmac(signingKey, toSign).toString('hex') === signature;
}
