/** Who is not let in: by API Gateway and IAM, and by the deployed function itself. */
import type { APIGatewayProxyEventV2WithIAMAuthorizer } from 'aws-lambda';
import * as z from 'zod/mini';
import type { Credential } from '../../local/aws/credentials.ts';
import { toHttpEvent } from '../../local/aws/http-event.ts';
import { callApi, invoke, type Caller } from './aws.ts';
import type { Deployed } from './deployed.ts';
import { createMachine } from './deployed.ts';
import { DeployTestError, holds, same } from './steps.ts';
import { ACCOUNT } from './workshop.ts';

const Answer = z.object({ statusCode: z.number(), body: z.string() });

export async function tellRefusals(deployed: Deployed): Promise<void> {
  const { steps, endpoint, callers } = deployed;
  const node = createMachine(deployed, { nodeId: 'i-0000000000000000d', group: 'x', version: '1', offered: '1' });
  const other = '/v1/nodes/i-0000000000000000e/reports';
  const statusOf = async (caller: Caller, method: string, path: string, body?: unknown): Promise<number> =>
    (await callApi(endpoint, caller, method, path, body)).status;

  await steps.step('API Gateway lets nobody in whom IAM does not let in', async () => {
    same('unsigned', (await fetch(`${endpoint}/v1/nodes`)).status, 403);
    const unknown = { accessKeyId: 'AKIAAAAAAAAAAAAAAAAA', secretAccessKey: 'unknown' };
    same('an unknown key', await statusOf(unknown, 'GET', '/v1/nodes'), 403);
    const forged = { ...deployed.operator, secretAccessKey: 'guessed' };
    same('a wrong signature', await statusOf(forged, 'GET', '/v1/nodes'), 403);
    same('a user without a policy', await statusOf(deployed.stranger, 'GET', '/v1/nodes'), 403);
    same('a viewer who looks', await statusOf(deployed.viewer, 'GET', '/v1/nodes'), 200);
    same('a viewer who acts', await statusOf(deployed.viewer, 'PUT', '/v1/groups/web', {}), 403);
    same('a node on a route of operators', (await node.call('GET', '/v1/nodes')).status, 403);
  });

  await steps.step('the deployed function believes the authorizer and nothing else', async () => {
    const foreign = await node.call('POST', other, { state: 'Idle' });
    holds('a node may not speak for another', foreign.status === 403 && codeOf(foreign.body) !== null, foreign);
    const operator = eventOf(callers.operator());
    same('the full event', (await ask(deployed, operator)).status, 200);
    const { authorizer: _authorizer, ...context } = operator.requestContext;
    await refused(deployed, 'an event without identity', { ...operator, requestContext: context });
    const claims = { ...operator.headers, 'x-amzn-iam-user-arn': callers.operator().userArn };
    await refused(deployed, 'an identity in a header', { ...operator, headers: claims, requestContext: context });
    const abroad = { ...callers.operator(), userArn: 'arn:aws:iam::999999999999:user/operator' };
    await refused(deployed, 'an identity of another account', eventOf(abroad));
    await refused(deployed, 'a node on a route of operators', eventOf(node.credential));
  });
}

/** The event of `GET /v1/nodes` as API Gateway would hand it over for this caller. */
function eventOf(credential: Credential): APIGatewayProxyEventV2WithIAMAuthorizer {
  const request = { method: 'GET', target: '/v1/nodes', headers: { host: 'api.example' }, body: Buffer.alloc(0) };
  const context = { credential, nowMs: Date.now(), sourceIp: '192.0.2.1', protocol: 'HTTP/1.1' };
  const event = toHttpEvent(request, { ...context, credential: { ...credential, accountId: ACCOUNT } });
  if (event === null) throw new DeployTestError('the path of the event is broken');
  return event;
}

async function ask(deployed: Deployed, event: unknown): Promise<{ status: number; code: unknown }> {
  const answer = await invoke(deployed.emulator.url, 'holdoff-api', event);
  const { statusCode, body } = z.parse(Answer, answer);
  return { status: statusCode, code: codeOf(JSON.parse(body)) };
}

async function refused(deployed: Deployed, what: string, event: unknown): Promise<void> {
  const { status, code } = await ask(deployed, event);
  holds(`${what} is refused by the function`, status === 403 && code !== null, { status, code });
  deployed.steps.note(`${what}: 403 ${String(code)}`);
}

/** The `code` of a problem of ours; null for anybody else's refusal. */
const codeOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'code' in body ? body.code : null;
