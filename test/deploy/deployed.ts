/** The deployment under test, and those who speak to it. */
import { REGION } from './workshop.ts';
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import type { DesiredNode, NodeReportAnswer } from '../../core/contract/agent-answers.ts';
import type { NodeJson, VmJson } from '../../core/contract/answers.ts';
import type { Credential, CredentialTable } from '../../local/aws/credentials.ts';
import { callApi, type Answer, type Caller } from './aws.ts';
import type { Cdk } from './cdk.ts';
import type { Emulator } from './emulator.ts';
import type { RunCommand } from './run-command.ts';
import { DeployTestError, holds, type Steps } from './steps.ts';
import type { Workshop } from './workshop.ts';

/** Only nodes of this role may speak as nodes: the agent stack makes it when the user names none. */
export const NODE_ROLE = `holdoff-node-${REGION}`;
export const SCHEDULE_GROUP = 'holdoff';

export interface Deployed {
  readonly steps: Steps;
  readonly workshop: Workshop;
  readonly emulator: Emulator;
  readonly cdk: Cdk;
  readonly runCommand: RunCommand;
  /** What the instances sign with. */
  readonly callers: CredentialTable;
  /** The output `Endpoint`, as this machine can reach it. */
  readonly endpoint: string;
  readonly tableName: string;
  /** People of the account: with the policy for operators, with the one for viewers, with none. */
  readonly operator: Caller;
  readonly viewer: Caller;
  readonly stranger: Caller;
}

/**
 * The path form of an HTTP API's endpoint: `<id>.execute-api.localhost` needs a resolver that knows it.
 *
 * @param output the output `Endpoint`
 */
export function reachable(output: string, emulator: Emulator): string {
  const id = /^http:\/\/([0-9a-z]+)\.execute-api\./.exec(output)?.[1];
  if (id === undefined) throw new DeployTestError(`the output Endpoint is no HTTP API: ${output}`);
  return `${emulator.url}/_aws/execute-api/${id}`;
}

export const operate = (deployed: Deployed, method: string, path: string, body?: unknown): Promise<Answer> =>
  callApi(deployed.endpoint, deployed.operator, method, path, body);

/** A call of an operator that must succeed; answers its body. */
export async function must<T>(deployed: Deployed, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await operate(deployed, method, path, body);
  holds(`${method} ${path} succeeds`, answer.status < 300, answer);
  // The caller names what the contract says of this path.
  return answer.body as T;
}

export const nodeOf = (deployed: Deployed, nodeId: string): Promise<NodeJson> =>
  must(deployed, 'GET', `/v1/nodes/${nodeId}`);
export const vmOf = (deployed: Deployed, vmId: string): Promise<VmJson> => must(deployed, 'GET', `/v1/vms/${vmId}`);

/** A node as its agent is: it knows its boot and its version, and reports them with its own credentials. */
export interface Machine {
  readonly nodeId: string;
  readonly credential: Credential;
  /** Reports a state; answers what is desired. */
  readonly report: (state: NodeReport['state'], more?: Partial<NodeReport>) => Promise<NodeReportAnswer>;
  /** What an agent does that was woken: it says where it stands, and learns what is desired of which generation. */
  readonly ask: () => Promise<DesiredNode>;
  /** From now on the machine runs another version, since a new boot. */
  readonly boot: (bootId: string, version: string) => void;
  /** A call as this node. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<Answer>;
  /** Asks, then reports the states one after the other, each when it is desired; answers what is desired after the last. */
  readonly obey: (states: readonly NodeReport['state'][]) => Promise<DesiredNode>;
}

export interface MachineOptions {
  readonly nodeId: string;
  readonly group: string;
  readonly version: string;
  /** The version that its update service offers. */
  readonly offered: string;
}

/** Plays one node. Each report is of a later uptime than the one before, as the kernel has it. */
export function createMachine(deployed: Deployed, options: MachineOptions): Machine {
  const { nodeId, group, offered } = options;
  const credential = deployed.callers.node(nodeId);
  let { version } = options;
  let bootId = 'boot-1';
  let uptime = 0;
  let generation: number | undefined;
  let reached: NodeReport['state'] = 'Idle';
  const call: Machine['call'] = (method, path, body) => callApi(deployed.endpoint, credential, method, path, body);
  const report: Machine['report'] = async (state, more = {}) => {
    uptime += 1;
    reached = state;
    const body: NodeReport = {
      state,
      bootId,
      currentVersion: version,
      updateCheck: version === offered ? { result: 'UpToDate' } : { result: 'Available', version: offered },
      group,
      uptime,
      ...(generation === undefined ? {} : { generation }),
      ...more,
    };
    const answer = await call('POST', `/v1/nodes/${nodeId}/reports`, body);
    holds(`the report ${state} of ${nodeId} is taken`, answer.status === 200, answer);
    // A 200 of this path is a NodeReportAnswer by the contract.
    const taken = answer.body as NodeReportAnswer;
    ({ generation } = taken.desired);
    return taken;
  };
  return {
    nodeId,
    credential,
    call,
    report,
    ask: async () => (await report(reached)).desired,
    boot: (newBoot, newVersion) => {
      bootId = newBoot;
      version = newVersion;
    },
    obey: async (states) => {
      let desired = (await report(reached)).desired;
      for (const state of states) {
        holds(`${state} is desired of ${nodeId}`, desired.state === state, desired);
        ({ desired } = await report(state));
      }
      return desired;
    },
  };
}
