// @ts-nocheck
import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2WithIAMAuthorizer, APIGatewayProxyResultV2 } from 'aws-lambda';
import type { Credential } from './credentials.ts';
import type { SignedRequest } from './sigv4.ts';

export interface EventContext {
  readonly credential: Credential;
  readonly nowMs: number;
  readonly sourceIp: string;
  readonly protocol: string;
}

const TEXT_TYPE = /^(?:text\/|application\/(?:json|javascript|xml)|application\/[\w.+-]+\+(?:json|xml))/i;

/**
 * Builds the event of an HTTP API with payload format 2.0 and an IAM authorizer, on the `$default` stage. API Gateway
 * decodes `rawPath`, its name notwithstanding; null when the path has a broken escape.
 */
export function toHttpEvent(
  request: SignedRequest,
  context: EventContext,
): APIGatewayProxyEventV2WithIAMAuthorizer | null {
  const mark = request.target.indexOf('?');
  const rawQueryString = mark < 0 ? '' : request.target.slice(mark + 1);
  const rawPath = decode(mark < 0 ? request.target : request.target.slice(0, mark));
  if (rawPath === null) return null;
  const { cookie, ...headers } = request.headers;
  const query = readQuery(rawQueryString);
  const text = TEXT_TYPE.test(headers['content-type'] ?? '');
  const { credential, nowMs } = context;
  const host = headers['host'] ?? '127.0.0.1';
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookie === undefined ? {} : { cookies: cookie.split(/;\s*/) }),
    headers,
    ...(query === null ? {} : { queryStringParameters: query }),
    requestContext: {
      accountId: credential.accountId,
      apiId: 'local',
      authorizer: { iam: identity(credential) },
      domainName: host,
      domainPrefix: host.split('.')[0] ?? host,
      http: {
        method: request.method,
        path: rawPath,
        protocol: context.protocol,
        sourceIp: context.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: logTime(new Date(nowMs)),
      timeEpoch: nowMs,
    },
    ...(request.body.length === 0 ? {} : { body: request.body.toString(text ? 'utf8' : 'base64') }),
    isBase64Encoded: request.body.length > 0 && !text,
  };
}

type Identity = APIGatewayProxyEventV2WithIAMAuthorizer['requestContext']['authorizer']['iam'];

function identity(credential: Credential): Identity {
  const { accessKeyId, accountId, userArn, userId } = credential;
  // No organisation: API Gateway leaves the id empty for an account outside of one.
  return {
    accessKey: accessKeyId,
    accountId,
    callerId: userId,
    cognitoIdentity: null,
    principalOrgId: '',
    userArn,
    userId,
  };
}

/** The query, decoded; values of a repeated name are joined by commas, as format 2.0 does. Null when there is none. */
function readQuery(raw: string): Record<string, string> | null {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(raw)) {
    const earlier = values.get(name);
    values.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  return values.size === 0 ? null : Object.fromEntries(values);
}

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null; // a broken escape
  }
}

/** The time in common log format, e.g. `30/Nov/2026:06:44:00 +0000`. */
function logTime(time: Date): string {
  const [, day, month, year, clock] = time.toUTCString().split(/[ ,]+/);
  return `${day}/${month}/${year}:${clock} +0000`;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | Buffer;
}

/**
 * Translates what a handler returned. Without a `statusCode` the whole of it is the JSON body of a 200, as API Gateway
 * assumes; null when it is nothing that API Gateway can send.
 */
export function toHttpAnswer(result: APIGatewayProxyResultV2 | undefined): HttpAnswer | null {
  if (typeof result !== 'object' || result.statusCode === undefined) {
    const body = typeof result === 'string' ? result : JSON.stringify(result ?? null);
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }
  const { statusCode, body = '', cookies, isBase64Encoded } = result;
  if (!Number.isInteger(statusCode) || statusCode < 200 || statusCode > 599) return null;
  const given = Object.entries(result.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), String(value)] as const,
  );
  return {
    status: statusCode,
    headers: {
      'content-type': 'text/plain;charset=utf-8',
      ...Object.fromEntries(given),
      ...(cookies === undefined ? {} : { 'set-cookie': cookies }),
    },
    body: isBase64Encoded === true ? Buffer.from(body, 'base64') : body,
  };
}
