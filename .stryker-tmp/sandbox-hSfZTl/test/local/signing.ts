// @ts-nocheck
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Credential } from '../../local/aws/credentials.ts';
import { REGION } from './surroundings.ts';

export interface Call {
  readonly url: string;
  readonly path?: string;
  readonly query?: Record<string, string | string[]>;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly credential: Omit<Credential, 'userArn' | 'accountId' | 'userId'>;
  readonly service?: string;
  readonly region?: string;
  readonly signingDate?: Date;
}

export interface Signed {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** Signs a call the way the CLI and the agent do. */
export async function sign(call: Call): Promise<Signed> {
  const { url, path = '/v1/nodes', query = {}, method = 'GET', body, headers = {}, credential } = call;
  const { service = 'execute-api', region = REGION, signingDate = new Date() } = call;
  const { accessKeyId, secretAccessKey, sessionToken } = credential;
  const token = sessionToken === undefined ? {} : { sessionToken };
  const signer = new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, ...token },
    service,
    region,
    sha256: Sha256,
  });
  const { host, hostname } = new URL(url);
  const signed = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname,
      path,
      query,
      headers: { host, ...headers },
      ...(body === undefined ? {} : { body }),
    },
    { signingDate },
  );
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  );
  const { host: _, ...sent } = signed.headers;
  const target = `${url}${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
  return { url: target, method, headers: sent, ...(body === undefined ? {} : { body }) };
}
