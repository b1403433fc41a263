/**
 * A strict double of a Kubernetes API server for one node: HTTPS with a CA of its own, the EKS token verified by signing
 * again, the node authorizer and NodeRestriction as they limit a node, disruption budgets, UID preconditions and
 * optimistic locking. What a node may not do is 403, as there.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import * as z from 'zod/mini';

export type PodRow = {
  name: string;
  uid: string;
  node: string;
  /** Kind of its controller, a ReplicaSet unless said otherwise; null: nothing starts it again elsewhere. */
  owner?: string | null;
  mirror?: boolean;
  phase?: string;
  /** Evictions are refused with 429 as long as this is set. */
  budget?: boolean;
  /** Evictions are refused with 403. */
  forbidden?: boolean;
  terminating?: boolean;
  /** Stays terminating for ever. */
  stuck?: boolean;
};
type NodeRow = { unschedulable: boolean; annotations: Record<string, string>; version: number };
export type Keys = { accessKeyId: string; secretAccessKey: string; sessionToken?: string };

const patchSchema = z.strictObject({
  metadata: z.strictObject({
    resourceVersion: z.string(),
    annotations: z.record(z.string(), z.nullable(z.string())),
  }),
  spec: z.strictObject({ unschedulable: z.nullable(z.boolean()) }),
});
const evictionSchema = z.strictObject({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('Eviction'),
  metadata: z.strictObject({ name: z.string(), namespace: z.string() }),
  deleteOptions: z.strictObject({ preconditions: z.strictObject({ uid: z.string() }) }),
});

type Reply = { status: number; body: unknown };
const status = (code: number, reason: string, message: string): Reply => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message },
});

export class KubernetesDouble {
  readonly cluster = 'blue';
  readonly nodeName = 'ip-10-0-0-1.ec2.internal';
  readonly node: NodeRow = { unschedulable: false, annotations: {}, version: 1 };
  pods: PodRow[] = [];
  /** `METHOD /path` of every request that was authorized. */
  readonly requests: string[] = [];
  readonly refused: string[] = [];
  /** Answered to the next requests instead of anything else. */
  failNext: number[] = [];
  /** Somebody else writes the node just before the next change. */
  overtaken = false;
  keys: Keys;
  readonly ca: string;
  readonly #server: Server;
  readonly #folder: string;

  constructor(keys: Keys) {
    this.keys = keys;
    this.#folder = mkdtempSync(join(tmpdir(), 'holdoff-kubernetes-'));
    const [key, cert] = [join(this.#folder, 'key.pem'), join(this.#folder, 'cert.pem')];
    const subject = ['-subj', '/CN=kubernetes', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
    this.ca = readFileSync(cert, 'utf8');
    this.#server = createServer({ key: readFileSync(key), cert: this.ca }, (request, response) => {
      void this.#serve(request, response);
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((done) => {
      this.#server.listen(0, '127.0.0.1', done);
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((done) => {
      this.#server.close(() => done());
    });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** settings.kubernetes of the node. */
  settings(): Record<string, string> {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return {
      'api-server': `https://127.0.0.1:${address.port}`,
      'cluster-certificate': Buffer.from(this.ca).toString('base64'),
      'cluster-name': this.cluster,
      'hostname-override': this.nodeName,
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const failure = this.failNext.shift();
    const said = `${request.method ?? ''} ${request.url ?? ''}`;
    const known = await this.#authenticates(request.headers.authorization ?? '');
    const reply =
      failure !== undefined
        ? status(failure, 'Scripted', 'scripted')
        : known
          ? this.#route(request, text)
          : status(401, 'Unauthorized', 'Unauthorized');
    (reply.status === 401 || reply.status === 403 ? this.refused : this.requests).push(said);
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply.body));
  }

  /** As aws-iam-authenticator: the token is a presigned GetCallerIdentity for this cluster, and STS would believe it. */
  async #authenticates(header: string): Promise<boolean> {
    const token = /^Bearer k8s-aws-v1\.([A-Za-z0-9_-]+)$/.exec(header)?.[1];
    if (token === undefined) return false;
    const url = new URL(Buffer.from(token, 'base64url').toString('utf8'));
    const query = Object.fromEntries(url.searchParams);
    if (!/^sts\.[a-z0-9-]+\.amazonaws\.com$/.test(url.host) || query['Action'] !== 'GetCallerIdentity') return false;
    if (query['X-Amz-SignedHeaders'] !== 'host;x-k8s-aws-id' || Number(query['X-Amz-Expires']) > 900) return false;
    const date = query['X-Amz-Date'] ?? '';
    const region = url.host.split('.')[1] ?? '';
    const signer = new SignatureV4({ service: 'sts', region, sha256: Sha256, credentials: this.keys });
    const again = await signer.presign(
      {
        method: 'GET',
        protocol: 'https:',
        hostname: url.hostname,
        path: '/',
        query: { Action: 'GetCallerIdentity', Version: query['Version'] ?? '' },
        headers: { host: url.host, 'x-k8s-aws-id': this.cluster },
      },
      {
        expiresIn: Number(query['X-Amz-Expires']),
        signingDate: new Date(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')),
      },
    );
    return again.query?.['X-Amz-Signature'] === query['X-Amz-Signature'];
  }

  #route(request: IncomingMessage, text: string): Reply {
    const url = new URL(request.url ?? '/', 'https://127.0.0.1');
    const { method } = request;
    if (url.pathname === `/api/v1/nodes/${this.nodeName}`) {
      if (method === 'GET') return this.#showNode();
      if (method === 'PATCH') return this.#patchNode(request.headers['content-type'] ?? '', text);
    }
    if (method === 'GET' && url.pathname === '/api/v1/pods') return this.#listPods(url.searchParams);
    const pod = /^\/api\/v1\/namespaces\/default\/pods\/([^/]+)\/eviction$/.exec(url.pathname)?.[1];
    if (method === 'POST' && pod !== undefined) return this.#evict(pod, text);
    return status(403, 'Forbidden', `${method ?? ''} ${url.pathname} is not for a node`);
  }

  #showNode(): Reply {
    const { unschedulable, annotations, version } = this.node;
    return {
      status: 200,
      body: {
        kind: 'Node',
        metadata: { name: this.nodeName, uid: 'n-1', resourceVersion: String(version), annotations },
        spec: unschedulable ? { unschedulable, podCIDR: '10.1.0.0/24' } : { podCIDR: '10.1.0.0/24' },
      },
    };
  }

  #patchNode(type: string, text: string): Reply {
    if (type !== 'application/merge-patch+json') return status(415, 'UnsupportedMediaType', type);
    const { metadata, spec } = patchSchema.parse(JSON.parse(text));
    if (this.overtaken) this.node.version += 1;
    this.overtaken = false;
    if (metadata.resourceVersion !== String(this.node.version))
      return status(409, 'Conflict', 'the object has been modified');
    for (const [name, value] of Object.entries(metadata.annotations)) {
      if (value === null) delete this.node.annotations[name];
      else this.node.annotations[name] = value;
    }
    this.node.unschedulable = spec.unschedulable === true;
    this.node.version += 1;
    return this.#showNode();
  }

  #listPods(query: URLSearchParams): Reply {
    if (query.get('fieldSelector') !== `spec.nodeName=${this.nodeName}`) {
      return status(403, 'Forbidden', 'can only list pods with a spec.nodeName field selector of this node');
    }
    const here = this.pods.filter(({ node }) => node === this.nodeName);
    const from = Number(query.get('continue') ?? 0);
    // Two a page, whatever the limit: a server may give fewer than asked for.
    const page = here.slice(from, from + 2);
    const next = from + 2 < here.length ? { continue: String(from + 2) } : {};
    // What was ending has ended by the next look.
    if (next.continue === undefined)
      this.pods = this.pods.filter(({ terminating, stuck }) => terminating !== true || stuck === true);
    return { status: 200, body: { kind: 'PodList', metadata: next, items: page.map(podOf) } };
  }

  #evict(name: string, text: string): Reply {
    const pod = this.pods.find((each) => each.name === name);
    const { deleteOptions } = evictionSchema.parse(JSON.parse(text));
    if (pod === undefined) return status(404, 'NotFound', `pods "${name}" not found`);
    if (pod.node !== this.nodeName || pod.forbidden === true)
      return status(403, 'Forbidden', 'node can only evict pods bound to it');
    if (deleteOptions.preconditions.uid !== pod.uid)
      return status(409, 'Conflict', 'the UID in the precondition does not match');
    if (pod.budget === true) {
      return status(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.");
    }
    pod.terminating = true;
    return { status: 201, body: { kind: 'Status', status: 'Success' } };
  }
}

function podOf({ name, uid, owner = 'ReplicaSet', mirror, phase, terminating }: PodRow): unknown {
  return {
    metadata: {
      name,
      namespace: 'default',
      uid,
      ...(terminating === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ...(mirror === true ? { annotations: { 'kubernetes.io/config.mirror': 'x' } } : {}),
      ...(owner === null ? {} : { ownerReferences: [{ kind: owner, name: 'o', controller: true }] }),
    },
    status: { phase: phase ?? 'Running' },
  };
}
