/** The API: an HTTP API event becomes a request, with the identity that API Gateway verified and no other. */
// @ts-nocheck

import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { DynamoEventLog } from './aws/event-log.ts';
import { createApp } from './http/app.ts';
import { wire } from './wire.ts';

const { env, plane, dynamodb } = wire();
const app = createApp(plane, new DynamoEventLog(dynamodb, env.table), {
  accountId: env.accountId,
  nodeRoles: env.nodeRoles,
});

export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
  const response = await app.fetch(toRequest(event), { iam: iamOf(event) });
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

function toRequest(event: APIGatewayProxyEventV2): Request {
  const { method } = event.requestContext.http;
  const query = event.rawQueryString === '' ? '' : `?${event.rawQueryString}`;
  const url = `https://${event.requestContext.domainName}${encodeURI(event.rawPath)}${query}`;
  const body = event.isBase64Encoded ? Buffer.from(event.body ?? '', 'base64') : (event.body ?? '');
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers)) if (value !== undefined) headers.set(name, value);
  return method === 'GET' || method === 'HEAD'
    ? new Request(url, { method, headers })
    : new Request(url, { method, headers, body });
}

/** Only an IAM route has this block; without it the caller is anonymous, and refused. */
function iamOf(event: APIGatewayProxyEventV2): unknown {
  const context: object = event.requestContext;
  const authorizer: unknown = 'authorizer' in context ? context.authorizer : undefined;
  return typeof authorizer === 'object' && authorizer !== null && 'iam' in authorizer ? authorizer.iam : undefined;
}
