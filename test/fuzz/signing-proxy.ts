/**
 * A proxy on 127.0.0.1 between a fuzzer that cannot sign and the control plane that takes nothing unsigned: each request
 * is sent on as it came, byte for byte, signed by whoever may make that call.
 */
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { type IncomingMessage, request as send } from 'node:http';
import type { Credential, CredentialTable } from '../../local/aws/credentials.ts';
import { listenOnLoopback, type Loopback, readBody } from '../../local/aws/loopback.ts';

const BODY_BYTES_MAX = 10 * 1024 * 1024;
const NODE_ID = /^(?:i-(?:[0-9a-f]{8}|[0-9a-f]{17})|mi-[0-9a-f]{17})$/;
/** Signs for a VM that nobody has declared: some node must ask. */
const STRANGER = 'i-00000000000000000';

type Answer = { status: number; headers: Record<string, string | string[]>; body: Buffer };

export type ProxyOptions = { endpoint: string; region: string; credentials: CredentialTable };
export type SigningProxy = Loopback & {
  /** How many answers of each status went through. */
  readonly statuses: ReadonlyMap<number, number>;
};

/** Starts the proxy: a node's calls are signed by that node, a VM's reports by its host, the rest by the operator. */
export async function startSigningProxy({ endpoint, region, credentials }: ProxyOptions): Promise<SigningProxy> {
  const statuses = new Map<number, number>();
  const hosts = new Map<string, string>();
  const callerOf = (method: string, path: string): Credential => {
    const node = nodeThatCalls(method, path, hosts);
    return node === null ? credentials.operator() : credentials.node(node);
  };
  const loopback = await listenOnLoopback(0, async (message, response) => {
    const target = message.url ?? '/';
    const body = (await readBody(message, BODY_BYTES_MAX)) ?? Buffer.alloc(0);
    const method = message.method ?? 'GET';
    const path = decoded(target.split('?')[0] ?? '/');
    const headers = await sign(message, target, body, callerOf(method, path), { endpoint, region });
    const answer = await forward(endpoint, method, target, headers, body);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    learnHost(answer, hosts);
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  });
  return { ...loopback, statuses };
}

/** The node whose identity a call needs, or null for the operator's. */
function nodeThatCalls(method: string, path: string, hosts: ReadonlyMap<string, string>): string | null {
  const [, , kind, id = '', verb] = path.split('/');
  const ofNode =
    kind === 'nodes' && ((method === 'POST' && verb === 'reports') || (method === 'GET' && verb === 'vms'));
  if (ofNode) return NODE_ID.test(id) ? id : STRANGER;
  const ofVm = kind === 'vms' && ((method === 'POST' && verb === 'reports') || (method === 'GET' && verb === 'launch'));
  return ofVm ? (hosts.get(id) ?? STRANGER) : null;
}

/** The answers themselves say which host a VM has. */
function learnHost({ status, body }: Answer, hosts: Map<string, string>): void {
  if (status >= 300) return;
  const { vmId, hostId } = readObject(body);
  if (typeof vmId === 'string' && typeof hostId === 'string') hosts.set(vmId, hostId);
}

function readObject(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {}; // HEAD has no body
  }
}

async function sign(
  message: IncomingMessage,
  target: string,
  body: Buffer,
  { accessKeyId, secretAccessKey, sessionToken }: Credential,
  { endpoint, region }: { endpoint: string; region: string },
): Promise<Record<string, string>> {
  const token = sessionToken === undefined ? {} : { sessionToken };
  const signer = new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, ...token },
    service: 'execute-api',
    region,
    sha256: Sha256,
  });
  const { host, hostname } = new URL(endpoint);
  const type = message.headers['content-type'];
  const [path = '/', ...query] = target.split('?');
  const signed = await signer.sign({
    method: message.method ?? 'GET',
    protocol: 'http:',
    hostname,
    path,
    query: parametersOf(query.join('?')),
    headers: { host, ...(type === undefined ? {} : { 'content-type': type }) },
    ...(body.length === 0 ? {} : { body }),
  });
  return signed.headers;
}

function parametersOf(query: string): Record<string, string[]> {
  const parameters = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const [name = '', ...value] = pair.split('=');
    const key = decoded(name);
    parameters.set(key, [...(parameters.get(key) ?? []), decoded(value.join('='))]);
  }
  return Object.fromEntries(parameters);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a broken escape: the front refuses it
  }
}

/** Sends a request on with its target as it came: `fetch` would put dot segments in order. */
function forward(
  endpoint: string,
  method: string,
  target: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<Answer> {
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve, reject) => {
    const sent = send({ hostname, port, method, path: target, headers: { ...headers, 'content-length': body.length } });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const { 'transfer-encoding': _chunked, connection: _connection, ...kept } = response.headers;
      readBody(response, BODY_BYTES_MAX)
        .then((answer) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(
              Object.entries(kept).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
            ),
            body: answer ?? Buffer.alloc(0),
          }),
        )
        .catch(reject);
    });
    sent.end(body);
  });
}
