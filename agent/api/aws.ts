/** Calls to AWS services with this node's own role, one try each: signed requests, since a client of the SDK weighs 200 KB. */
import type { Environment } from '../settings.ts';
import { AgentError, messageOf } from '../failure.ts';
import { exchange } from '../http/exchange.ts';
import type { ProxyChoice } from '../http/proxy.ts';
import { createSigner, type IdentitySource } from '../../client/sign.ts';

export type AwsService = 'ecs' | 'elasticloadbalancing' | 'sts';
/** The SDK's variables for another endpoint, kept so that private endpoints and tests work the same way. */
const ENDPOINT_VARIABLES: Readonly<Record<AwsService, string>> = {
  ecs: 'AWS_ENDPOINT_URL_ECS',
  elasticloadbalancing: 'AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2',
  sts: 'AWS_ENDPOINT_URL_STS',
};

export function endpointOf(service: AwsService, region: string, env: Environment): URL {
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return new URL(env[ENDPOINT_VARIABLES[service]] ?? `https://${service}.${region}.${suffix}`);
}

export type AwsCall = (headers: Readonly<Record<string, string>>, body: string) => Promise<string>;

export type AwsOptions = {
  readonly region: string;
  readonly identity: IdentitySource;
  readonly env: Environment;
  readonly timeoutMs: number;
  readonly proxies: ProxyChoice;
  readonly wallMs: () => number;
};

/** A POST to a service; answers the body of a 200 and throws what a refusal says. */
export function createAwsCall(service: AwsService, options: AwsOptions): AwsCall {
  const url = new URL('/', endpointOf(service, options.region, options.env));
  const sign = createSigner({ ...options, service });
  return async (headers, body) => {
    const what = headers['x-amz-target']?.split('.').at(-1) ?? new URLSearchParams(body).get('Action') ?? service;
    let status: number;
    let text: string;
    try {
      const signed = await sign({ method: 'POST', url, body, headers });
      const { timeoutMs, proxies } = options;
      const request = { method: 'POST', url, headers: signed, body, timeoutMs, proxy: proxies(url) } as const;
      ({ status, text } = await exchange(request));
    } catch (error) {
      throw new AgentError('Network', `${service} ${what}: ${messageOf(error)}`, { cause: error });
    }
    if (status === 200) return text;
    throw new AgentError('Network', `${service} ${what}: ${status} ${text.slice(0, 300)}`);
  };
}
