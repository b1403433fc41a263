/**
 * The bearer token of an EKS cluster: a presigned GetCallerIdentity of this node's own role, which the cluster's
 * authenticator sends to STS itself (kubernetes-sigs/aws-iam-authenticator, "API Authorization from Outside a Cluster").
 */
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import type { IdentitySource } from '../../client/sign.ts';

const EXPIRES_SECONDS = 60;

export async function eksToken(
  cluster: string,
  sts: URL,
  { region, identity, wallMs }: { region: string; identity: IdentitySource; wallMs: () => number },
): Promise<string> {
  const signer = new SignatureV4({ service: 'sts', region, credentials: identity, sha256: Sha256 });
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: sts.protocol,
      hostname: sts.hostname,
      ...(sts.port === '' ? {} : { port: Number(sts.port) }),
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      // Binds the token to one cluster: another one refuses it.
      headers: { host: sts.host, 'x-k8s-aws-id': cluster },
    },
    { expiresIn: EXPIRES_SECONDS, signingDate: new Date(wallMs()) },
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(signed.query ?? {})) {
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, each ?? '');
  }
  const url = `${sts.protocol}//${sts.host}/?${query.toString()}`;
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`;
}
