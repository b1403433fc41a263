/** The control plane as the agent calls it: one try per call; when to try again is the caller's to decide. */
import type { NodeReport, VmReport } from '../../core/contract/agent-bodies.ts';
import type { HostVm, LaunchAnswer, VmReportAnswer } from '../../core/contract/agent-answers.ts';
import { AGENT_ROUTES } from '../../core/contract/agent-routes.ts';
import type { Method, Route } from '../../core/contract/route.ts';
import { callOf, type CallOf } from '../../client/request.ts';
import type { Signer } from '../../client/sign.ts';
import { AgentError, messageOf, RefusedError } from '../failure.ts';
import { exchange, type HttpAnswer } from '../http/exchange.ts';
import type { ProxyChoice } from '../http/proxy.ts';
import type { NetworkTime } from '../network-time.ts';
import type { NodeAnswer } from '../node/wanted.ts';
import { readHostVms, readLaunch, readNodeAnswer, readProblem, readVmAnswer } from './answers.ts';

export type ControlPlane = {
  reportNode(report: NodeReport): Promise<NodeAnswer>;
  hostVms(): Promise<HostVm[]>;
  reportVm(vmId: string, report: VmReport): Promise<VmReportAnswer>;
  launch(vmId: string, instanceId: string): Promise<LaunchAnswer>;
};

export type ClientOptions = {
  readonly endpoint: string;
  readonly nodeId: string;
  readonly sign: Signer;
  readonly timeoutMs: number;
  readonly proxies: ProxyChoice;
  /** Hears what time it is. */
  readonly time: Pick<NetworkTime, 'hear'>;
  /** Aborted when the agent ends. */
  readonly ended: AbortSignal;
};

/** A client for one node. Its calls throw AgentError: Network, Refused (with the status) or Protocol. */
export function createClient(options: ClientOptions): ControlPlane {
  const call = <R extends Route>(route: R, what: CallOf<R>): Promise<unknown> => {
    const { method, target, body } = callOf(route, what);
    const text = body === undefined ? null : JSON.stringify(body);
    return request(options, method, new URL(options.endpoint + target), text);
  };
  const { nodeId } = options;
  return {
    reportNode: async (report) =>
      readNodeAnswer(await call(AGENT_ROUTES.reportNode, { params: { nodeId }, body: report })),
    hostVms: async () => readHostVms(await call(AGENT_ROUTES.listHostVms, { params: { nodeId } })),
    reportVm: async (vmId, report) =>
      readVmAnswer(await call(AGENT_ROUTES.reportVm, { params: { vmId }, body: report })),
    launch: async (vmId, instanceId) =>
      readLaunch(await call(AGENT_ROUTES.getLaunch, { params: { vmId }, query: { instanceId } })),
  };
}

async function request(options: ClientOptions, method: Method, url: URL, body: string | null): Promise<unknown> {
  const what = `${method} ${url.pathname}`;
  const first = await ask(options, method, url, body);
  // Refused with a time that this very answer says is wrong: signed with the right one it is another request.
  const again = options.time.hear(first.date) && first.status === 403;
  const { status, text } = again ? await ask(options, method, url, body) : first;
  const parsed = parseJson(text);
  if (status >= 200 && status < 300) {
    if (parsed === undefined) throw new AgentError('Protocol', `${what}: the answer is not JSON`);
    return parsed;
  }
  const { code, text: detail } = readProblem(parsed);
  throw new RefusedError(status, code, `${what}: ${status} ${code ?? ''} ${detail ?? text.slice(0, 200)}`.trim());
}

async function ask(options: ClientOptions, method: Method, url: URL, body: string | null): Promise<HttpAnswer> {
  const { sign, timeoutMs, ended, proxies } = options;
  try {
    const headers = await sign({ method, url, body });
    return await exchange({ method, url, headers, body, timeoutMs, ended, proxy: proxies(url) });
  } catch (error) {
    throw new AgentError('Network', `${method} ${url.pathname}: ${messageOf(error)}`, { cause: error });
  }
}

/** The value, or undefined when the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
