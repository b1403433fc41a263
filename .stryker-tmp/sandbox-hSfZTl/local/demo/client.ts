/** The demo's operator: signed calls to the control plane on this machine. */
// @ts-nocheck

import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';

export type Connection = {
  endpoint: string;
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
};
export type Answer = { status: number; body: unknown };

/** @throws when nothing answers: the caller waits and tries again */
export async function call(connection: Connection, method: string, path: string, body?: unknown): Promise<Answer> {
  const url = new URL(path, connection.endpoint);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const signer = new SignatureV4({
    service: 'execute-api',
    region: connection.region,
    credentials: connection.credentials,
    sha256: Sha256,
  });
  const signed = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    port: Number(url.port),
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { host: url.host, ...(text === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(text === undefined ? {} : { body: text }),
  });
  const response = await fetch(url, {
    method,
    headers: signed.headers,
    signal: AbortSignal.timeout(10_000),
    ...(text === undefined ? {} : { body: text }),
  });
  return { status: response.status, body: await response.json() };
}

/** The items of a list, at most one page: the demo's fleet is small. */
export async function items<T>(connection: Connection, path: string): Promise<T[]> {
  const { body } = await call(connection, 'GET', path);
  // The control plane on this machine answers as the contract says.
  return typeof body === 'object' && body !== null && 'items' in body ? (body.items as T[]) : [];
}
