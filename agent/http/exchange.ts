/**
 * One HTTP request and its answer: bounded in time and in size, through the proxy that is given, redirects not followed.
 * By node:http, since the built-in fetch costs an idle agent 20 MB and ignores the host's proxy settings.
 */
import { type ClientRequest, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { AgentError, messageOf } from '../failure.ts';
import { hostOf, portOf, proxyHeaders } from './address.ts';
import { openTunnel } from './tunnel.ts';

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | null;
  readonly timeoutMs: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly ended?: AbortSignal;
  /** Of the answer's body; what is longer is refused. */
  readonly bytesMax?: number;
  /** PEM; absent: the system's own. */
  readonly ca?: string;
  /** Null: straight to the host. */
  readonly proxy?: URL | null;
};
export type HttpAnswer = {
  readonly status: number;
  readonly text: string;
  /** The `Date` of the answer in milliseconds; null without one. */
  readonly date: number | null;
};

const BYTES_MAX = 1024 * 1024;

/** Throws a Network error when there is no answer, or none that can be taken. */
export async function exchange(request: HttpRequest): Promise<HttpAnswer> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = request.ended === undefined ? timeout : AbortSignal.any([request.ended, timeout]);
  try {
    const outgoing = await begin(request, signal);
    return await answerOf(outgoing, request.body ?? null, request.bytesMax ?? BYTES_MAX);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    const late = timeout.aborted && request.ended?.aborted !== true;
    const why = late ? `no answer in ${request.timeoutMs / 1000} s` : messageOf(error);
    throw new AgentError('Network', why, { cause: error });
  }
}

/** An https URL goes through a tunnel of the proxy, an http URL is asked of the proxy itself (RFC 9110, 9112). */
async function begin(request: HttpRequest, signal: AbortSignal): Promise<ClientRequest> {
  const { method, url, body, proxy = null, ca } = request;
  const headers: Record<string, string | number> = { ...request.headers };
  if (body != null) headers['content-length'] = Buffer.byteLength(body);
  const path = `${url.pathname}${url.search}`;
  const options: RequestOptions = { method, headers, signal };
  if (url.protocol === 'https:') {
    // A connection of our own is used only where no agent is named.
    const tunnel = proxy === null ? { agent: false } : { createConnection: await openTunnel(proxy, url, ca, signal) };
    const reach = { host: hostOf(url), port: portOf(url), path, ...(ca === undefined ? {} : { ca }) };
    return requestHttps({ ...options, ...reach, ...tunnel });
  }
  if (proxy === null) return requestHttp({ ...options, agent: false, host: hostOf(url), port: portOf(url), path });
  headers['host'] ??= url.host;
  Object.assign(headers, proxyHeaders(proxy));
  return requestHttp({ ...options, agent: false, host: hostOf(proxy), port: portOf(proxy), path: url.href });
}

function answerOf(outgoing: ClientRequest, body: string | null, bytesMax: number): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= bytesMax) chunks.push(chunk);
        else outgoing.destroy(new AgentError('Network', `the answer is longer than ${bytesMax} bytes`));
      });
      incoming.on('error', reject);
      incoming.on('end', () => {
        const said = Date.parse(incoming.headers.date ?? '');
        const date = Number.isFinite(said) ? said : null;
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8'), date });
      });
    });
    outgoing.end(body ?? undefined);
  });
}
