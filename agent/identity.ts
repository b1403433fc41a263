/**
 * Who this node is, where nobody has said so: the registration that the SSM agent keeps of a hybrid node, else the
 * instance metadata service, version 2 only (EC2 User Guide, "Use the Instance Metadata Service").
 */
import * as z from 'zod/mini';
import { type NodeId, parseNodeId } from '../core/kit/ids.ts';
import { readIfThere } from './durable.ts';
import { AgentError, messageOf } from './failure.ts';
import { exchange } from './http/exchange.ts';

type Environment = Readonly<Record<string, string | undefined>>;
export type Identity = { readonly nodeId: NodeId; readonly region: string };

const registrationSchema = z.object({ ManagedInstanceID: z.string(), Region: z.string() });
/** The SDK's own variable for the address of the service. */
const METADATA = 'AWS_EC2_METADATA_SERVICE_ENDPOINT';
const TOKEN_SECONDS = '60';

/**
 * Fills in what is not given. Throws a Host error that says where it looked when the node cannot be told.
 * @param registrationFile of the SSM agent
 */
export async function findIdentity(
  given: { nodeId: NodeId | null; region: string | null },
  env: Environment,
  registrationFile: string,
  timeoutMs: number,
): Promise<Identity> {
  const { nodeId, region } = given;
  if (nodeId !== null && region !== null) return { nodeId, region };
  const found = readRegistration(registrationFile) ?? (await askIdentity(env, timeoutMs));
  const foundId = nodeId ?? parseNodeId(found.nodeId);
  if (foundId === null) throw new AgentError('Host', `${found.nodeId} is not the id of an instance or a managed node`);
  return { nodeId: foundId, region: region ?? found.region };
}

type Found = { nodeId: string; region: string };

function readRegistration(file: string): Found | null {
  const text = readIfThere(file);
  if (text === null) return null;
  try {
    const parsed = registrationSchema.safeParse(JSON.parse(text));
    if (parsed.success) return { nodeId: parsed.data.ManagedInstanceID, region: parsed.data.Region };
    // On EC2 the same file has other fields.
    return null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function askIdentity(env: Environment, timeoutMs: number): Promise<Found> {
  try {
    const [nodeId = '', region = ''] = await askMetadata(env, timeoutMs, ['instance-id', 'placement/region']);
    return { nodeId, region };
  } catch (error) {
    throw new AgentError(
      'Host',
      `--node-id (HOLDOFF_NODE_ID) and --region (HOLDOFF_REGION) are not both given, and neither the SSM registration nor the metadata service says them: ${messageOf(error)}`,
    );
  }
}

/** What the metadata service says of this instance, in the order asked. Never through a proxy. Throws Network or Host. */
export async function askMetadata(env: Environment, timeoutMs: number, names: readonly string[]): Promise<string[]> {
  const ask = async (method: 'GET' | 'PUT', path: string, headers: Record<string, string>): Promise<string> => {
    const url = new URL(path, env[METADATA] ?? 'http://169.254.169.254');
    const { status, text } = await exchange({ method, url, headers, timeoutMs });
    if (status !== 200) throw new AgentError('Host', `${path} answered ${status}`);
    return text.trim();
  };
  const token = await ask('PUT', '/latest/api/token', { 'x-aws-ec2-metadata-token-ttl-seconds': TOKEN_SECONDS });
  const said: string[] = [];
  for (const name of names) said.push(await ask('GET', `/latest/meta-data/${name}`, { [TOKEN]: token }));
  return said;
}

const TOKEN = 'x-aws-ec2-metadata-token';
