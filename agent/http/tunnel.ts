/** A way to an https host through a proxy: CONNECT, then TLS with the host itself (RFC 9110 section 9.3.6). */
import { type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { AgentError } from '../failure.ts';
import { hostOf, portOf, proxyHeaders } from './address.ts';

/** Answers what opens the connection of one request. Throws a Network error that names the proxy when it refuses. */
export async function openTunnel(
  proxy: URL,
  target: URL,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<() => TLSSocket> {
  const socket = await askProxy(proxy, `${target.hostname}:${portOf(target)}`, signal);
  const host = hostOf(target);
  // An address is no server name (RFC 6066 section 3).
  const named = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  return () => connect({ socket, host, ...named, ...(ca === undefined ? {} : { ca }) });
}

function askProxy(proxy: URL, authority: string, signal: AbortSignal): Promise<Socket> {
  const options: RequestOptions = {
    method: 'CONNECT',
    host: hostOf(proxy),
    port: portOf(proxy),
    path: authority,
    headers: { host: authority, ...proxyHeaders(proxy) },
    agent: false,
    signal,
  };
  const outgoing = proxy.protocol === 'https:' ? requestHttps(options) : requestHttp(options);
  return new Promise((resolve, reject) => {
    const said = (status: number): AgentError =>
      new AgentError('Network', `the proxy ${proxy.host} answered ${status} to CONNECT ${authority}`);
    outgoing.on('connect', ({ statusCode = 0 }, socket) => {
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      return reject(said(statusCode));
    });
    outgoing.on('response', ({ statusCode = 0 }) => {
      outgoing.destroy();
      reject(said(statusCode));
    });
    outgoing.on('error', (error) =>
      reject(new AgentError('Network', `the proxy ${proxy.host}: ${error.message}`, { cause: error })),
    );
    outgoing.end();
  });
}
