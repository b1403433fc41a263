/** Where the cluster's API server is and who this node is there: from the node's own settings (facts, section 2). */
import * as z from 'zod/mini';
import { AgentError } from '../failure.ts';

const text = z.string().check(z.minLength(1));
const settingsSchema = z.object({
  kubernetes: z.object({
    'api-server': text,
    'cluster-certificate': z.optional(text),
    'cluster-name': text,
    'hostname-override': z.optional(text),
  }),
});

export type KubernetesSettings = { server: URL; ca: string | null; cluster: string; nodeName: string };

/** Throws a Host error that names what is missing. */
export function readKubernetesSettings(settings: unknown, nodeName: string): KubernetesSettings {
  const parsed = settingsSchema.safeParse(settings);
  if (!parsed.success) {
    throw new AgentError(
      'Host',
      `settings.kubernetes is not what a cluster's node has: ${z.prettifyError(parsed.error)}`,
    );
  }
  const { 'api-server': server, 'cluster-certificate': ca, 'cluster-name': cluster, ...rest } = parsed.data.kubernetes;
  if (!URL.canParse(server)) throw new AgentError('Host', `settings.kubernetes.api-server is no URL: ${server}`);
  const name = nodeName === '' ? rest['hostname-override'] : nodeName;
  if (name === undefined) {
    throw new AgentError(
      'Host',
      'settings.kubernetes.hostname-override is not set: name this node with --kubernetes-node',
    );
  }
  return {
    server: new URL(server),
    ca: ca === undefined ? null : Buffer.from(ca, 'base64').toString('utf8'),
    cluster,
    nodeName: name,
  };
}
