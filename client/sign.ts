/** Signs requests with SigV4, for API Gateway above all: agent, CLI, demo and page all sign here. */
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';

export type Identity = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};
/** Asked at each signature: whoever gives it may keep it, and renew it. */
export type IdentitySource = () => Promise<Identity>;

export type SignableRequest = {
  readonly method: string;
  readonly url: URL;
  readonly body: string | null;
  /** Signed besides Host, in place of the JSON content type. */
  readonly headers?: Readonly<Record<string, string>>;
};
export type Signer = (request: SignableRequest) => Promise<Record<string, string>>;

export type SignerOptions = {
  readonly region: string;
  readonly identity: IdentitySource;
  /** What time it is, in milliseconds since 1970, as far as anybody here knows. */
  readonly wallMs: () => number;
  /** As IAM names the service; `execute-api` is API Gateway. */
  readonly service?: string;
};

const JSON_TYPE = { 'content-type': 'application/json' };

/** The headers of a request, signature included; Host is left to the transport, which writes it from the same URL. */
export function createSigner({ region, identity, wallMs, service = 'execute-api' }: SignerOptions): Signer {
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
    return Object.fromEntries(Object.entries(signed.headers).filter(([name]) => name.toLowerCase() !== 'host'));
  };
}
