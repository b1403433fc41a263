/** The four calls to a Kubernetes API server that draining needs, over HTTPS with the cluster's own CA. */
import * as z from 'zod/mini';
import { AgentError, messageOf } from '../failure.ts';
import { exchange } from '../http/exchange.ts';

export type KubernetesReach = {
  readonly server: URL;
  /** PEM; null: the system's own. */
  readonly ca: string | null;
  readonly nodeName: string;
  readonly token: () => Promise<string>;
  readonly proxy: URL | null;
};

const meta = z.object({
  name: z.string(),
  namespace: z.optional(z.string()),
  uid: z.optional(z.string()),
  resourceVersion: z.optional(z.string()),
  deletionTimestamp: z.optional(z.string()),
  annotations: z.optional(z.record(z.string(), z.string())),
  ownerReferences: z.optional(z.array(z.object({ kind: z.string(), controller: z.optional(z.boolean()) }))),
});
const nodeSchema = z.object({
  metadata: meta,
  spec: z.optional(z.object({ unschedulable: z.optional(z.boolean()) })),
});
export type KubernetesNode = z.infer<typeof nodeSchema>;
const podSchema = z.object({ metadata: meta, status: z.optional(z.object({ phase: z.optional(z.string()) })) });
export type Pod = z.infer<typeof podSchema>;
const podListSchema = z.object({
  metadata: z.optional(z.object({ continue: z.optional(z.string()) })),
  items: z.array(podSchema),
});
const statusSchema = z.object({ message: z.optional(z.string()), reason: z.optional(z.string()) });

export type Answer = { status: number; body: unknown; message: string };
const PAGE = 200;

export class KubernetesApi {
  readonly nodeName: string;
  readonly #reach: KubernetesReach;
  readonly #timeoutMs: number;

  constructor(reach: KubernetesReach, timeoutMs: number) {
    this.#reach = reach;
    this.#timeoutMs = timeoutMs;
    this.nodeName = reach.nodeName;
  }

  async node(): Promise<KubernetesNode> {
    return nodeSchema.parse(ok(await this.#call('GET', `/api/v1/nodes/${encodeURIComponent(this.nodeName)}`)));
  }

  /** Merges a change into the node; false when it was changed meanwhile. */
  async patchNode(patch: unknown): Promise<boolean> {
    const path = `/api/v1/nodes/${encodeURIComponent(this.nodeName)}`;
    const answer = await this.#call('PATCH', path, patch, 'application/merge-patch+json');
    if (answer.status === 409) return false;
    ok(answer);
    return true;
  }

  /** Every pod that is bound to this node. */
  async pods(): Promise<Pod[]> {
    const pods: Pod[] = [];
    let next = '';
    do {
      const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${this.nodeName}`, limit: String(PAGE) });
      if (next !== '') query.set('continue', next);
      const page = podListSchema.parse(ok(await this.#call('GET', `/api/v1/pods?${query.toString()}`)));
      pods.push(...page.items);
      next = page.metadata?.continue ?? '';
    } while (next !== '');
    return pods;
  }

  /** Asks for one pod's eviction, of this very pod and not of another of its name. */
  evict({ name, namespace = 'default', uid }: Pod['metadata']): Promise<Answer> {
    return this.#call(
      'POST',
      `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/eviction`,
      {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace },
        deleteOptions: uid === undefined ? {} : { preconditions: { uid } },
      },
    );
  }

  async #call(
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<Answer> {
    const { server, ca, proxy, token } = this.#reach;
    const what = `${method} ${path.split('?')[0] ?? path}`;
    const text = body === undefined ? null : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${await token()}`,
      accept: 'application/json',
      ...(text === null ? {} : { 'content-type': type }),
    };
    try {
      const answer = await exchange({
        method,
        url: new URL(path, server),
        headers,
        body: text,
        timeoutMs: this.#timeoutMs,
        bytesMax: BYTES_MAX,
        proxy,
        ...(ca === null ? {} : { ca }),
      });
      return readAnswer(answer.status, what, answer.text);
    } catch (error) {
      throw new AgentError('Network', `${what}: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** A page of 200 pods with all their managed fields. */
const BYTES_MAX = 32 * 1024 * 1024;

/** Errors are a Status object, or plain text from something in between. */
function readAnswer(status: number, what: string, text: string): Answer {
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const said = statusSchema.safeParse(body);
  const message = (said.success ? said.data.message : undefined) ?? text.slice(0, 200);
  return { status, body, message: `${what}: ${status} ${message}` };
}

function ok(answer: Answer): unknown {
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  throw new AgentError('Network', answer.message);
}
