import { type App, type Environment, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { AgentImageStack } from './agent-image.ts';
import { AgentStack } from './agent.ts';
import { ControlPlane } from './control-plane.ts';
import { PROJECT_ROOT, type Settings } from './settings.ts';

/** CDK feature flags. Here and not in cdk.json, so that they hold without the CLI, in `npm run synth` and in tests. */
export const FLAGS = { '@aws-cdk/core:target-partitions': ['aws', 'aws-us-gov', 'aws-cn'] };

export interface DeploymentProps {
  readonly settings: Settings;
  /** The content of the document that wakes agents. */
  readonly wakeDocument: Readonly<Record<string, unknown>>;
  /** The project whose `functions/` are deployed. Default: this repository. */
  readonly root?: string;
  /** The context of the agent's image. Default: bundled from this repository. */
  readonly agentFolder?: string;
  /** Account and Region. Default: whatever the CLI deploys to. */
  readonly env?: Environment;
}

export interface Deployment {
  readonly controlPlane: ControlPlane;
  readonly agent: AgentStack;
  /** Only when the settings ask for it. */
  readonly agentImage: AgentImageStack | null;
}

/** One deployment of Holdoff: its stacks, checked by cdk-nag when the app is synthesised. */
export function addDeployment(app: App, props: DeploymentProps): Deployment {
  const { settings, wakeDocument, root = PROJECT_ROOT } = props;
  const stackProps = { settings, tags: { ...settings.tags }, ...(props.env === undefined ? {} : { env: props.env }) };
  const controlPlane = new ControlPlane(app, `${settings.prefix}-control-plane`, { ...stackProps, root });
  const agent = new AgentStack(app, `${settings.prefix}-agent`, { ...stackProps, wakeDocument });
  // The node role attaches a policy of the control plane by name.
  agent.addStackDependency(controlPlane);
  return { controlPlane, agent, agentImage: addAgentImage(app, props, agent) };
}

function addAgentImage(app: App, props: DeploymentProps, agent: AgentStack): AgentImageStack | null {
  const { settings } = props;
  if (settings.agentImage === undefined) return null;
  const image = new AgentImageStack(app, `${settings.prefix}-agent-image`, {
    settings,
    tags: { ...settings.tags },
    ...(props.env === undefined ? {} : { env: props.env }),
    ...(props.agentFolder === undefined ? {} : { folder: props.agentFolder }),
  });
  // The roles that may pull it must be there.
  image.addStackDependency(agent);
  return image;
}

/** Makes synthesis fail on any finding that nobody has acknowledged with a reason. */
export function addChecks(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
}
