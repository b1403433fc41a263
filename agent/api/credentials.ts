/** This node's own AWS identity, with which it signs (DESIGN section 6). */
import type { Identity, IdentitySource } from '../../client/sign.ts';
import type { Environment } from '../settings.ts';

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
