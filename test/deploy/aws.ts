/** Signed calls to the emulated account: to the deployed API, and to services of which the project has no client. */
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { DeployTestError } from './steps.ts';
import { ACCOUNT, REGION, ROOT } from './workshop.ts';

export interface Caller {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface SignedCall {
  readonly service: string;
  readonly caller: Caller;
  readonly method: string;
  readonly url: URL;
  readonly contentType?: string;
  readonly body?: string;
}

/** One request, signed with SigV4. */
async function signedCall({ service, caller, method, url, contentType, body }: SignedCall): Promise<Reply> {
  const { accessKeyId, secretAccessKey, sessionToken } = caller;
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  const signer = new SignatureV4({ service, region: REGION, credentials, sha256: Sha256 });
  const type = contentType === undefined ? {} : { 'content-type': contentType };
  const payload = body === undefined ? {} : { body };
  const { headers } = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { host: url.host, ...type },
    ...payload,
  });
  // fetch writes the host itself, from the same URL that was signed.
  const { host: _host, ...sent } = headers;
  const response = await fetch(url, { method, headers: sent, ...payload, signal: AbortSignal.timeout(60_000) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A call to the deployed API through API Gateway, as a node, a person or a stranger. */
export async function callApi(
  endpoint: string,
  caller: Caller,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const json = body === undefined ? {} : { body: JSON.stringify(body), contentType: 'application/json' };
  const url = new URL(endpoint + path);
  const { status, text } = await signedCall({ service: 'execute-api', caller, method, url, ...json });
  return { status, body: JSON.parse(text) };
}

/** Invokes a deployed function with an event of our own. @throws {DeployTestError} when it throws */
export async function invoke(account: string, functionName: string, event: unknown): Promise<unknown> {
  const reply = await signedCall({
    service: 'lambda',
    caller: ROOT,
    method: 'POST',
    url: new URL(`/2015-03-31/functions/${functionName}/invocations`, account),
    contentType: 'application/json',
    body: JSON.stringify(event),
  });
  if (reply.status !== 200 || reply.headers.has('x-amz-function-error')) {
    throw new DeployTestError(`${functionName} failed: HTTP ${reply.status} ${reply.text}`);
  }
  return JSON.parse(reply.text);
}

/** An action of a service with the query protocol; answers its XML. */
export async function query(
  account: string,
  service: 'iam' | 'cloudformation',
  action: string,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const version = service === 'iam' ? '2010-05-08' : '2010-05-15';
  const reply = await signedCall({
    service,
    caller: ROOT,
    method: 'POST',
    url: new URL('/', account),
    contentType: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({ Action: action, Version: version, ...parameters }).toString(),
  });
  if (reply.status >= 300) throw new DeployTestError(`${service} ${action}: HTTP ${reply.status} ${reply.text}`);
  return reply.text;
}

/** The text of the first element of that name. */
export function elementOf(xml: string, name: string): string {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (found === undefined) throw new DeployTestError(`no <${name}> in ${xml}`);
  return found;
}

const policyArn = (name: string): string => `arn:aws:iam::${ACCOUNT}:policy/${name}`;

/** A person of the account: an IAM user with one of the deployment's policies, or none. */
export async function createUser(account: string, name: string, policy?: string): Promise<Caller> {
  await query(account, 'iam', 'CreateUser', { UserName: name });
  if (policy !== undefined) {
    await query(account, 'iam', 'AttachUserPolicy', { UserName: name, PolicyArn: policyArn(policy) });
  }
  const key = await query(account, 'iam', 'CreateAccessKey', { UserName: name });
  return { accessKeyId: elementOf(key, 'AccessKeyId'), secretAccessKey: elementOf(key, 'SecretAccessKey') };
}

/** A role that one user may assume, with one of the deployment's policies; answers its ARN. */
export async function createRole(account: string, name: string, user: string, policy: string): Promise<string> {
  const trusted = `arn:aws:iam::${ACCOUNT}:user/${user}`;
  const trust = {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { AWS: trusted }, Action: 'sts:AssumeRole' }],
  };
  const parameters = { RoleName: name, AssumeRolePolicyDocument: JSON.stringify(trust) };
  const created = await query(account, 'iam', 'CreateRole', parameters);
  await query(account, 'iam', 'AttachRolePolicy', { RoleName: name, PolicyArn: policyArn(policy) });
  const arn = elementOf(created, 'Arn');
  const may = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Resource: arn }] };
  const document = { PolicyName: 'assume', PolicyDocument: JSON.stringify(may) };
  await query(account, 'iam', 'PutUserPolicy', { UserName: user, ...document });
  return arn;
}
