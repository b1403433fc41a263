// @ts-nocheck
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AwsError, validation, type Notify } from './errors.ts';
import { listenOnLoopback, readBody, type Loopback } from './loopback.ts';

/** What a stand-in needs to know of its account, and whom it tells what went wrong. */
export interface Surroundings {
  readonly region: string;
  readonly accountId: string;
  readonly notify: Notify;
}

/** A request whose caller named the right service and Region; signatures are checked by the front only. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly target: string | undefined;
  /** The JSON body; `{}` for an empty one. */
  readonly body: unknown;
}

export interface WireService {
  /** The signing name in the credential scope, e.g. `sqs`. */
  readonly signingName: string;
  /** `application/x-amz-json-1.0`, `-1.1`, or `application/json` for REST services. */
  readonly contentType: string;
  readonly answer: (request: WireRequest) => unknown;
}

const BODY_BYTES_MAX = 2 * 1024 * 1024;

/**
 * Serves one AWS service on 127.0.0.1. A request must carry a SigV4 header for this service and Region: that is what the
 * SDK sends, and what a web page that reaches for a loopback port cannot send without a preflight we never grant.
 */
export function serveWire(port: number, around: Surroundings, service: WireService): Promise<Loopback> {
  return listenOnLoopback(port, async (request, response) => {
    const requestId = randomUUID();
    try {
      checkScope(request, around.region, service.signingName);
      const wire = await readWire(request);
      respond(response, 200, service.contentType, requestId, service.answer(wire) ?? {});
    } catch (error) {
      if (!(error instanceof AwsError)) {
        around.notify({ level: 'error', service: service.signingName, message: 'the stand-in failed', error });
      }
      const known = error instanceof AwsError ? error : new AwsError('InternalServerError', 'Internal error', 500);
      if (known.queryCode !== undefined) response.setHeader('x-amzn-query-error', `${known.queryCode};Sender`);
      response.setHeader('x-amzn-errortype', known.code);
      // Scheduler's errors carry `Message`, the JSON protocols' `message`.
      const body = { __type: known.code, message: known.message, Message: known.message };
      respond(response, known.status, service.contentType, requestId, body);
    }
  });
}

function checkScope(request: IncomingMessage, region: string, signingName: string): void {
  const header = request.headers.authorization ?? '';
  if (header === '')
    throw new AwsError('MissingAuthenticationTokenException', 'Request is missing Authentication Token', 403);
  const scope = /^AWS4-HMAC-SHA256 Credential=[^/,\s]+\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request,/.exec(header);
  if (scope === null) throw new AwsError('IncompleteSignatureException', 'Authorization header is not SigV4', 403);
  if (scope[1] !== region || scope[2] !== signingName) {
    const message = `Credential should be scoped to ${region}/${signingName}, not ${scope[1]}/${scope[2]}`;
    throw new AwsError('InvalidSignatureException', message, 403);
  }
}

async function readWire(request: IncomingMessage): Promise<WireRequest> {
  const bytes = await readBody(request, BODY_BYTES_MAX);
  if (bytes === null) throw new AwsError('RequestEntityTooLargeException', 'Request body is too large', 413);
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const target = request.headers['x-amz-target'];
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    target: typeof target === 'string' ? target : undefined,
    body: bytes.length === 0 ? {} : parseJson(bytes.toString('utf8')),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AwsError('SerializationException', `Body is not JSON: ${String(error)}`);
  }
}

function respond(response: ServerResponse, status: number, type: string, requestId: string, body: unknown): void {
  response.writeHead(status, { 'content-type': type, 'x-amzn-requestid': requestId });
  response.end(JSON.stringify(body));
}

export type Operations = Readonly<Record<string, (input: unknown) => unknown>>;

/** Dispatches the AWS JSON protocols: `X-Amz-Target: Service.Operation`. An operation we do not have is refused. */
export function byTarget(prefix: string, operations: Operations): (request: WireRequest) => unknown {
  return (request) => {
    const [service, name] = (request.target ?? '').split('.');
    const operation = service === prefix && name !== undefined ? operations[name] : undefined;
    if (operation === undefined) {
      throw new AwsError('UnknownOperationException', `The stand-in has no ${request.target ?? '(no target)'}`);
    }
    return operation(request.body);
  };
}

/** Reads an input by its schema, or answers as the service does with what is wrong and where. */
export function readInput<T>(
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false; error: InputError } },
  value: unknown,
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const said = result.error.issues.map((issue) => `${issue.path.map(String).join('.') || 'input'}: ${issue.message}`);
  const count = said.length === 1 ? '1 validation error' : `${said.length} validation errors`;
  throw validation(`${count} detected: ${said.join('; ')}`);
}

interface InputError {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}
