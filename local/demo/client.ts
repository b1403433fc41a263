/** The demo's operator: signed calls to the control plane on this machine. */
import { createClient, type Client, fetchTransport } from '../../client/client.ts';
import { createSigner, type Signer } from '../../client/sign.ts';

export type Connection = {
  endpoint: string;
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
};
export type Answer = { status: number; body: unknown };

const TIMEOUT_MS = 10_000;
/** Signs as the operator of this machine. */
export const signerOf = ({ region, credentials }: Connection): Signer =>
  createSigner({ region, identity: () => Promise.resolve(credentials), wallMs: Date.now });

/** Calls throw when nothing answers: the caller waits and tries again. */
export const clientOf = (connection: Connection): Client =>
  createClient(connection.endpoint, signerOf(connection), fetchTransport(TIMEOUT_MS));

/** A call by its path, for tests that speak to the control plane as anybody might. */
export async function call(connection: Connection, method: string, path: string, given?: unknown): Promise<Answer> {
  const url = new URL(path, connection.endpoint);
  const body = given === undefined ? null : JSON.stringify(given);
  const headers = await signerOf(connection)({ method, url, body });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { method, headers, signal, ...(body === null ? {} : { body }) });
  return { status: response.status, body: await response.json() };
}

/** The items of a list, at most one page: the demo's fleet is small. */
export async function items<T>(connection: Connection, path: string): Promise<T[]> {
  const { body } = await call(connection, 'GET', path);
  // The control plane on this machine answers as the contract says.
  return typeof body === 'object' && body !== null && 'items' in body ? (body.items as T[]) : [];
}
