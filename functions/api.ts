/** The API: an HTTP API event becomes a request, with the identity that API Gateway verified and no other. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { DynamoEventLog } from './aws/event-log.ts';
import { createApp } from './http/app.ts';
import { wellFormed } from '../core/kit/text.ts';
import { Home } from './operations/home.ts';
import { wire } from './wire.ts';

const { env, plane, dynamodb } = wire();
const home = new Home(plane);
const app = createApp(
  plane,
  new DynamoEventLog(dynamodb, env.table),
  { accountId: env.accountId, nodeRoles: env.nodeRoles },
  () => home.isOpen(),
);

export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
  const response = await app.fetch(toRequest(event), { iam: iamOf(event) });
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** The methods of an HTTP API. A `Request` throws at some others (TRACE); no route has any, so that one stands for all. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'];

/** Nothing here depends on a header: what a caller wrote into one can neither mislead nor break the call. */
function toRequest(event: APIGatewayProxyEventV2): Request {
  const asked = event.requestContext.http.method;
  const method = METHODS.includes(asked) ? asked : 'OPTIONS';
  const query = event.rawQueryString === '' ? '' : `?${event.rawQueryString}`;
  const url = `https://${event.requestContext.domainName}${encodePath(event.rawPath)}${query}`;
  const body = event.isBase64Encoded ? Buffer.from(event.body ?? '', 'base64') : (event.body ?? '');
  return method === 'GET' || method === 'HEAD' ? new Request(url, { method }) : new Request(url, { method, body });
}

/**
 * API Gateway has decoded the path: each part of it is encoded again, so that a `?` in an id is no query, and a part
 * that is only dots does not lead to another route than the one that IAM allowed.
 */
const encodePath = (path: string): string =>
  wellFormed(path)
    .split('/')
    .map((part) => (/^\.{1,2}$/.test(part) ? part.replaceAll('.', '%252E') : encodeURIComponent(part)))
    .join('/');

/** Only an IAM route has this block; without it the caller is anonymous, and refused. */
function iamOf(event: APIGatewayProxyEventV2): unknown {
  const context: object = event.requestContext;
  const authorizer: unknown = 'authorizer' in context ? context.authorizer : undefined;
  return typeof authorizer === 'object' && authorizer !== null && 'iam' in authorizer ? authorizer.iam : undefined;
}
