// @ts-nocheck
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEventV2WithIAMAuthorizer, APIGatewayProxyResultV2 } from 'aws-lambda';
import type { Credential } from './credentials.ts';
import type { Notify } from './errors.ts';
import { toHttpAnswer, toHttpEvent, type HttpAnswer } from './http-event.ts';
import { listenOnLoopback, readBody } from './loopback.ts';
import { verifySigV4, type SignedRequest } from './sigv4.ts';

/** The API's Lambda handler. */
export type HttpApiHandler = (event: APIGatewayProxyEventV2WithIAMAuthorizer) => Promise<APIGatewayProxyResultV2>;

export interface FrontOptions {
  readonly port?: number;
  readonly region: string;
  readonly find: (accessKeyId: string) => Credential | null;
  readonly handler: HttpApiHandler;
  readonly notify: Notify;
  /** API Gateway's integration time-out; default 30 s, which cannot be raised for an HTTP API. */
  readonly timeoutMs?: number;
}

export interface EmbeddedFront {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

// API Gateway's quotas of an HTTP API (facts/aws-services.md, section 3).
const BODY_BYTES_MAX = 10 * 1024 * 1024;
const HEADER_BYTES_MAX = 10_240;
const TIMEOUT_MS = 30_000;

/** Starts the front of the API: verifies the signature, builds the event, calls the handler, sends its answer. */
export function startFront(options: FrontOptions): Promise<EmbeddedFront> {
  return listenOnLoopback(
    options.port ?? 0,
    async (message, response) => {
      const answer = await serve(message, options);
      response.setHeader('apigw-requestid', randomUUID());
      send(response, answer);
    },
    { maxHeaderSize: HEADER_BYTES_MAX },
  );
}

async function serve(message: IncomingMessage, options: FrontOptions): Promise<HttpAnswer> {
  const body = await readBody(message, BODY_BYTES_MAX);
  if (body === null) return said(413, 'Request Entity Too Large');
  const nowMs = Date.now();
  const request: SignedRequest = {
    method: message.method ?? 'GET',
    target: message.url ?? '/',
    headers: joinHeaders(message),
    body,
  };
  const verified = await verifySigV4(request, {
    region: options.region,
    service: 'execute-api',
    nowMs,
    find: options.find,
  });
  if (!verified.ok) {
    const text = verified.code === 'MissingAuthenticationTokenException' ? verified.message : 'Forbidden';
    return said(403, text, { 'x-amzn-errortype': verified.code, 'x-amzn-errormessage': verified.message });
  }
  const event = toHttpEvent(request, {
    credential: verified.credential,
    nowMs,
    sourceIp: message.socket.remoteAddress ?? '127.0.0.1',
    protocol: `HTTP/${message.httpVersion}`,
  });
  return event === null ? said(400, 'Bad Request') : call(event, options);
}

async function call(event: APIGatewayProxyEventV2WithIAMAuthorizer, options: FrontOptions): Promise<HttpAnswer> {
  const { handler, notify, timeoutMs = TIMEOUT_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), timeoutMs);
  });
  try {
    const result = await Promise.race([handler(event), late]);
    if (result === 'late') {
      notify({ level: 'error', service: 'execute-api', message: `the handler took longer than ${timeoutMs} ms` });
      return said(503, 'Service Unavailable');
    }
    const answer = toHttpAnswer(result);
    if (answer !== null) return answer;
    notify({ level: 'error', service: 'execute-api', message: 'the handler returned no HTTP response', error: result });
  } catch (error) {
    notify({ level: 'error', service: 'execute-api', message: 'the handler threw', error });
  } finally {
    clearTimeout(timer);
  }
  return said(500, 'Internal Server Error');
}

/** An answer of API Gateway itself. */
function said(status: number, message: string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ message }) };
}

function send(response: ServerResponse, answer: HttpAnswer): void {
  response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.body) });
  response.end(answer.body);
}

/** Headers by lower-case name, as Node has them; one that was sent several times is joined. */
function joinHeaders(message: IncomingMessage): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of Object.entries(message.headers)) {
    if (value !== undefined) joined.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return Object.fromEntries(joined);
}
