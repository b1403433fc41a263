/** Hands a drain step to its adapter. Never throws: what went wrong is an outcome, and is tried again. */
import { createAwsCall, endpointOf } from '../api/aws.ts';
import type { IdentitySource } from '../../client/sign.ts';
import { messageOf } from '../failure.ts';
import type { HookRunner } from '../hooks.ts';
import type { ProxyChoice } from '../http/proxy.ts';
import type { AgentDrainStep, DrainAct, DrainOutcome } from '../node/drain-record.ts';
import type { Environment } from '../settings.ts';
import { type DrainAdapter, DONE } from './adapter.ts';
import { ecsAdapter } from './ecs.ts';
import { eksToken } from './eks-token.ts';
import { execAdapter } from './exec.ts';
import { KubernetesApi } from './kubernetes-api.ts';
import { readKubernetesSettings } from './kubernetes-reach.ts';
import { kubernetesAdapter } from './kubernetes.ts';
import { loadBalancerAdapter } from './load-balancer.ts';

export type DrainerOptions = {
  readonly nodeId: string;
  readonly region: string;
  readonly identity: IdentitySource;
  readonly env: Environment;
  readonly requestTimeoutMs: number;
  readonly ecsIntrospection: string;
  readonly kubernetesNode: string;
  /** settings of the node, from its own API. */
  readonly settings: () => Promise<unknown>;
  readonly runHook: HookRunner;
  /** Ends what an agent that was killed has left running in a place of hooks. */
  readonly endHook: (slot: string) => Promise<void>;
  readonly proxies: ProxyChoice;
  /** What time it is, to sign with. */
  readonly wallMs: () => number;
};

export type Drainer = (act: DrainAct, step: AgentDrainStep, mine: readonly string[] | null) => Promise<DrainOutcome>;

export function createDrainer(options: DrainerOptions): Drainer {
  /** One adapter for a step as long as the agent lives: Kubernetes' remembers which pods it waits for. */
  const adapters = new Map<string, DrainAdapter>();
  const adapterOf = (step: AgentDrainStep): DrainAdapter => {
    const key = JSON.stringify(step);
    const known = adapters.get(key) ?? createAdapter(step, options);
    adapters.set(key, known);
    return known;
  };
  return async (act, step, mine) => {
    const adapter = adapterOf(step);
    try {
      if (act === 'survey') return await adapter.survey();
      return await (act === 'drain' ? adapter.drain(mine ?? []) : adapter.undo(mine));
    } catch (error) {
      return { kind: 'unavailable', message: messageOf(error) };
    }
  };
}

function createAdapter(step: AgentDrainStep, options: DrainerOptions): DrainAdapter {
  const { nodeId, requestTimeoutMs: timeoutMs } = options;
  const aws = { ...options, timeoutMs };
  switch (step.type) {
    case 'kubernetes':
      return kubernetesAdapter(() => connectKubernetes(options), nodeId, step.unmanaged === 'evict');
    case 'ecs':
      return ecsAdapter(createAwsCall('ecs', aws), options.ecsIntrospection, nodeId, timeoutMs);
    case 'loadBalancer':
      return loadBalancerAdapter(step.targetGroups, createAwsCall('elasticloadbalancing', aws), nodeId);
    case 'exec':
      return execAdapter(step, options.runHook, options.endHook);
    case 'unknown':
      return unknownAdapter(step.kind);
  }
}

/** A step that a newer control plane asks for: never skipped, and nothing of it is ever ours. */
function unknownAdapter(kind: string): DrainAdapter {
  const message = `this agent does not know drain steps of type ${kind}: update the agent, or take the step out of the group`;
  const impossible = (): Promise<DrainOutcome> => Promise.resolve({ kind: 'impossible', message });
  return { survey: impossible, drain: impossible, undo: () => Promise.resolve(DONE) };
}

async function connectKubernetes(options: DrainerOptions): Promise<KubernetesApi> {
  const { region, env, kubernetesNode, requestTimeoutMs, proxies } = options;
  const { server, ca, cluster, nodeName } = readKubernetesSettings(await options.settings(), kubernetesNode);
  const token = (): Promise<string> => eksToken(cluster, endpointOf('sts', region, env), options);
  return new KubernetesApi({ server, ca, nodeName, token, proxy: proxies(server) }, requestTimeoutMs);
}
