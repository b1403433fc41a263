/** Starts a machine of the demo: the double of a Bottlerocket node, with the real agent inside. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCredentials } from '../aws/credentials.ts';
import { AGENT_ENVIRONMENT, type DemoNode, NEW_VERSION, OLD_VERSION } from './fleet.ts';
import { type Supervised, supervise } from './processes.ts';

export type MachinePlace = {
  dataDir: string;
  endpoint: string;
  region: string;
  /** Settings of the agent beside those of the demo. */
  agentEnv?: Readonly<Record<string, string>>;
};

/** @param say told when the machine's process ends by itself and is started again */
export function startMachine(
  node: DemoNode,
  { dataDir, endpoint, region, agentEnv }: MachinePlace,
  say: (text: string) => void,
): Supervised {
  const logs = join(dataDir, 'logs');
  mkdirSync(logs, { recursive: true });
  const faults = join(logs, `${node.nodeId}.faults.json`);
  writeFileSync(faults, JSON.stringify({ ...node.faults, offeredVersion: node.hostsVms ? null : NEW_VERSION }));
  const key = openCredentials({ file: join(dataDir, 'credentials.json') }).node(node.nodeId);
  const args = [
    '--data',
    dataDir,
    '--node-id',
    node.nodeId,
    '--endpoint',
    endpoint,
    '--region',
    region,
    '--group',
    node.group,
  ];
  args.push(
    '--version',
    node.hostsVms ? NEW_VERSION : OLD_VERSION,
    '--faults',
    faults,
    ...(node.hostsVms ? ['--allow-exec'] : []),
  );
  const env = {
    ...AGENT_ENVIRONMENT,
    ...agentEnv,
    AWS_ACCESS_KEY_ID: key.accessKeyId,
    AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
    ...(key.sessionToken === undefined ? {} : { AWS_SESSION_TOKEN: key.sessionToken }),
    AWS_REGION: region,
  };
  return supervise(`machine ${node.nodeId}`, 'local/machine/main.ts', args, env, join(logs, `${node.nodeId}.log`), say);
}
