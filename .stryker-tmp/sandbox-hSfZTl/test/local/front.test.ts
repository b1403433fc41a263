// @ts-nocheck
import type { APIGatewayProxyEventV2WithIAMAuthorizer, APIGatewayProxyResultV2 } from 'aws-lambda';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCredentials } from '../../local/aws/credentials.ts';
import { startFront, type HttpApiHandler } from '../../local/aws/front.ts';
import { sign, type Call, type Signed } from './signing.ts';
import { closing, dataDir, REGION, surroundings } from './surroundings.ts';

const NODE = 'i-0123456789abcdef0';

async function start(handler?: HttpApiHandler, timeoutMs?: number) {
  const events: APIGatewayProxyEventV2WithIAMAuthorizer[] = [];
  const credentials = openCredentials({ file: join(dataDir(), 'credentials.json') });
  const { notices, notify } = surroundings();
  const front = closing(
    await startFront({
      region: REGION,
      find: credentials.find,
      handler: async (event) => {
        events.push(event);
        return handler === undefined ? { statusCode: 200, body: 'ok' } : handler(event);
      },
      notify,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }),
  );
  return { url: front.url, credentials, events, notices };
}

const send = ({ url, ...init }: Signed): Promise<Response> => fetch(url, init);
const answerOf = async (response: Response): Promise<[number, unknown]> => [response.status, await response.json()];
const BINARY = { 'content-type': 'application/octet-stream' };
const FORBIDDEN = [403, { message: 'Forbidden' }];

describe('the API front', () => {
  it('hands a signed request to the handler as the event of an HTTP API with an IAM authorizer', async () => {
    const { url, credentials, events } = await start();
    const credential = credentials.node(NODE);
    const response = await send(
      await sign({
        url,
        path: `/v1/nodes/${NODE}/reports`,
        query: { limit: '5', tag: ['b', 'a c'] },
        method: 'POST',
        body: '{"state":"Idle"}',
        headers: { 'content-type': 'application/json', 'X-Custom': 'Value' },
        credential,
      }),
    );
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    const [event] = events;
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: '$default',
      rawPath: `/v1/nodes/${NODE}/reports`,
      rawQueryString: 'limit=5&tag=b&tag=a%20c',
      queryStringParameters: { limit: '5', tag: 'b,a c' },
      headers: { 'x-custom': 'Value', 'content-type': 'application/json' },
      body: '{"state":"Idle"}',
      isBase64Encoded: false,
      requestContext: {
        accountId: '000000000000',
        stage: '$default',
        http: { method: 'POST', path: `/v1/nodes/${NODE}/reports`, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1' },
      },
    });
    expect(event?.requestContext.authorizer.iam).toEqual({
      accessKey: credential.accessKeyId,
      accountId: '000000000000',
      callerId: credential.userId,
      cognitoIdentity: null,
      principalOrgId: '',
      userArn: `arn:aws:sts::000000000000:assumed-role/HoldoffNode/${NODE}`,
      userId: credential.userId,
    });
    expect(event?.requestContext.time).toMatch(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/);
  });

  it('knows the operator from a node', async () => {
    const { url, credentials, events } = await start();
    await send(await sign({ url, credential: credentials.operator() }));
    expect(events[0]?.requestContext.authorizer.iam.userArn).toBe('arn:aws:iam::000000000000:user/operator');
  });

  it('decodes the path, and gives a binary body in base64', async () => {
    const { url, credentials, events } = await start();
    const credential = credentials.operator();
    await send(await sign({ url, path: '/v1/vms/a%20b', method: 'POST', body: 'x', headers: BINARY, credential }));
    expect(events[0]).toMatchObject({ rawPath: '/v1/vms/a b', body: 'eA==', isBase64Encoded: true });
  });

  it('sends back status, headers, cookies and body of the handler', async () => {
    const result: APIGatewayProxyResultV2 = {
      statusCode: 202,
      headers: { 'Content-Type': 'application/problem+json', 'x-count': 3 },
      cookies: ['a=1', 'b=2'],
      body: Buffer.from('{"a":1}').toString('base64'),
      isBase64Encoded: true,
    };
    const { url, credentials } = await start(async () => result);
    const response = await send(await sign({ url, credential: credentials.operator() }));
    expect(response.status).toBe(202);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('x-count')).toBe('3');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.text()).toBe('{"a":1}');
  });

  it('takes an answer without a status for the JSON of a 200', async () => {
    const { url, credentials } = await start(async () => '{"hello":"you"}');
    const response = await send(await sign({ url, credential: credentials.operator() }));
    expect(await answerOf(response)).toEqual([200, { hello: 'you' }]);
  });

  it('answers 500 for a handler that throws, and 503 for one that takes too long', async () => {
    const broken = await start(() => Promise.reject(new Error('broken')));
    const response = await send(await sign({ url: broken.url, credential: broken.credentials.operator() }));
    expect(await answerOf(response)).toEqual([500, { message: 'Internal Server Error' }]);
    expect(broken.notices).toHaveLength(1);
    const slow = await start(() => new Promise(() => undefined), 20);
    const late = await send(await sign({ url: slow.url, credential: slow.credentials.operator() }));
    expect(await answerOf(late)).toEqual([503, { message: 'Service Unavailable' }]);
  });

  it('answers 413 for more than 10 MB', async () => {
    const { url, credentials, events } = await start();
    const body = 'a'.repeat(10 * 1024 * 1024 + 1);
    const response = await send(await sign({ url, method: 'POST', body, credential: credentials.operator() }));
    expect(await answerOf(response)).toEqual([413, { message: 'Request Entity Too Large' }]);
    expect(events).toEqual([]);
  });

  it('takes the clock of a caller that is 4 min off, and not one that is 6 min off', async () => {
    const { url, credentials, events } = await start();
    const credential = credentials.operator();
    const statusAt = async (minutes: number): Promise<number> => {
      const signingDate = new Date(Date.now() + minutes * 60_000);
      return (await send(await sign({ url, credential, signingDate }))).status;
    };
    expect([await statusAt(-4), await statusAt(4), await statusAt(-6), await statusAt(6)]).toEqual([
      200, 200, 403, 403,
    ]);
    expect(events).toHaveLength(2);
  });
});

describe('the API front refuses, before the handler,', () => {
  it('a request that is not signed', async () => {
    const { url, events } = await start();
    expect(await answerOf(await fetch(`${url}/v1/nodes`))).toEqual([403, { message: 'Missing Authentication Token' }]);
    expect(events).toEqual([]);
  });

  it.each<[string, Partial<Call>]>([
    ['for another service', { service: 'scheduler' }],
    ['for another Region', { region: 'eu-west-1' }],
  ])('a signature %s', async (_, change) => {
    const { url, credentials, events } = await start();
    const response = await send(await sign({ url, credential: credentials.operator(), ...change }));
    expect(await answerOf(response)).toEqual(FORBIDDEN);
    expect(events).toEqual([]);
  });

  it('the signature of a key it does not know, and of another secret', async () => {
    const { url, credentials, events } = await start();
    const { accessKeyId, secretAccessKey } = credentials.operator();
    const stranger = { accessKeyId: 'AKIAAAAAAAAAAAAAAAAA', secretAccessKey };
    const thief = { accessKeyId, secretAccessKey: 'guessed' };
    expect(await answerOf(await send(await sign({ url, credential: stranger })))).toEqual(FORBIDDEN);
    expect(await answerOf(await send(await sign({ url, credential: thief })))).toEqual(FORBIDDEN);
    expect(events).toEqual([]);
  });

  it('a node key without its session token, and with that of another node', async () => {
    const { url, credentials, events } = await start();
    const { accessKeyId, secretAccessKey } = credentials.node(NODE);
    const { sessionToken } = credentials.node('i-00000000');
    const other = { accessKeyId, secretAccessKey, sessionToken };
    expect(await answerOf(await send(await sign({ url, credential: { accessKeyId, secretAccessKey } })))).toEqual(
      FORBIDDEN,
    );
    expect(await answerOf(await send(await sign({ url, credential: other })))).toEqual(FORBIDDEN);
    expect(events).toEqual([]);
  });

  const POST = { method: 'POST', path: '/v1/vms/a/stop', body: '{"a":1}', query: { force: 'true' } };
  it.each<[string, (signed: Signed) => Signed]>([
    ['its body was changed', (signed) => ({ ...signed, body: '{"a":2}' })],
    [
      'its body was changed, and the hash with it',
      (signed) => ({ ...signed, body: '', headers: withEmptyHash(signed) }),
    ],
    ['its method was changed', (signed) => ({ ...signed, method: 'PUT' })],
    ['its path was changed', (signed) => ({ ...signed, url: signed.url.replace('/a/', '/b/') })],
    ['its query was changed', (signed) => ({ ...signed, url: signed.url.replace('true', 'false') })],
    ['its query was made longer', (signed) => ({ ...signed, url: `${signed.url}&x=1` })],
    ['its query was made longer behind a second question mark', (signed) => ({ ...signed, url: `${signed.url}?x=1` })],
    ['its query got a prototype', (signed) => ({ ...signed, url: `${signed.url}&__proto__=1` })],
    ['its query got a second signature', (signed) => ({ ...signed, url: `${signed.url}&X-Amz-Signature=1` })],
    ['its query was lost', (signed) => ({ ...signed, url: signed.url.replace(/\?.*/, '') })],
    [
      'a signed header was changed',
      (signed) => ({ ...signed, headers: { ...signed.headers, 'content-type': 'text/a' } }),
    ],
    ['a signed header was lost', (signed) => ({ ...signed, headers: without(signed.headers, 'x-reason') })],
    ['it got an amz header', (signed) => ({ ...signed, headers: { ...signed.headers, 'x-amz-target': 'x' } })],
    ['its date is gone', (signed) => ({ ...signed, headers: without(signed.headers, 'x-amz-date') })],
    ['its host is not signed', (signed) => editAuthorization(signed, (text) => text.replace(';host;', ';'))],
    ['its signature is cut off', (signed) => editAuthorization(signed, (text) => text.slice(0, -1))],
    ['it is a bearer token', (signed) => editAuthorization(signed, () => 'Bearer abc')],
  ])('a request when %s', async (_, change) => {
    const { url, credentials, events } = await start();
    const headers = { 'content-type': 'application/json', 'x-reason': 'drill' };
    const signed = await sign({ url, ...POST, headers, credential: credentials.operator() });
    expect((await send(signed)).status).toBe(200);
    expect(await answerOf(await send(change(signed)))).toEqual(FORBIDDEN);
    expect(events).toHaveLength(1);
  });

  it.each(['/v1/nodes/../vms/a/stop', '/v1//vms/a/stop', '/v1/./vms/a/stop'])(
    'the path %s, which has the signature of another',
    async (target) => {
      const { url, credentials, events } = await start();
      const signed = await sign({ url, path: '/v1/vms/a/stop', method: 'POST', credential: credentials.operator() });
      expect(await sendRaw(signed, target)).toBe(403);
      expect(events).toEqual([]);
    },
  );
});

const EMPTY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const withEmptyHash = ({ headers }: Signed) => ({ ...headers, 'x-amz-content-sha256': EMPTY_HASH });
const without = (headers: Record<string, string>, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
const editAuthorization = (signed: Signed, edit: (text: string) => string): Signed => ({
  ...signed,
  headers: { ...signed.headers, authorization: edit(signed.headers['authorization'] ?? '') },
});

/** Sends a target as it is: `fetch` would fold its dots. */
function sendRaw(signed: Signed, target: string): Promise<number | undefined> {
  const { hostname, port } = new URL(signed.url);
  return new Promise((resolve, reject) => {
    const call = httpRequest(
      { hostname, port, path: target, method: signed.method, headers: signed.headers },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    );
    call.on('error', reject);
    call.end();
  });
}
