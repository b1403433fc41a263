/** Signs requests, for API Gateway above all, with this node's own AWS identity (DESIGN section 6). */
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Environment } from '../settings.ts';

export type Identity = { accessKeyId: string; secretAccessKey: string; sessionToken?: string; expiration?: Date };
export type IdentitySource = () => Promise<Identity>;

export type SignableRequest = {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly body: string | null;
  /** Signed besides Host, in place of the JSON content type. */
  readonly headers?: Readonly<Record<string, string>>;
};
export type Signer = (request: SignableRequest) => Promise<Record<string, string>>;

/**
 * The SDK's default chain. Its first link, the environment, is read here, so that an agent given keys does not load
 * the other links; they are loaded when they are first needed.
 */
export function defaultIdentity(env: Environment, clock: () => number = () => performance.now()): IdentitySource {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  const sessionToken = env['AWS_SESSION_TOKEN'];
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    const identity = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
    return () => Promise.resolve(identity);
  }
  let kept: { identity: Identity; at: number } | null = null;
  let chain: IdentitySource | null = null;
  return async () => {
    // Keys from a file name no end, and the SSM agent replaces those of a hybrid node in place: the SDK would keep the
    // first ones for ever. What names its end the SDK renews itself.
    const endless = kept !== null && kept.identity.expiration === undefined;
    if (kept !== null && endless && clock() - kept.at < FILE_KEYS_KEPT_MS) return kept.identity;
    const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
    if (chain === null || endless) chain = fromNodeProviderChain({ ignoreCache: true });
    kept = { identity: await chain(), at: clock() };
    return kept.identity;
  };
}

const FILE_KEYS_KEPT_MS = 60_000;

const JSON_TYPE = { 'content-type': 'application/json' };

/** The headers of a request, signature included. @param wallMs what time it is, as far as anybody here knows */
export function createSigner(
  region: string,
  identity: IdentitySource,
  wallMs: () => number,
  service = 'execute-api',
): Signer {
  const signer = new SignatureV4({ service, region, credentials: identity, sha256: Sha256 });
  return async ({ method, url, body, headers = body === null ? {} : JSON_TYPE }) => {
    const unsigned = {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host, ...headers },
      ...(body === null ? {} : { body }),
    };
    const signed = await signer.sign(unsigned, { signingDate: new Date(wallMs()) });
    // node:http sets Host itself, from the same URL.
    return Object.fromEntries(Object.entries(signed.headers).filter(([name]) => name.toLowerCase() !== 'host'));
  };
}
