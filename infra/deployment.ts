import { type App, type Environment, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { AgentStack, nodeRolesOf } from './agent.ts';
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
  /** Account and Region. Default: whatever the CLI deploys to. */
  readonly env?: Environment;
}

export interface Deployment {
  readonly controlPlane: ControlPlane;
  readonly agent: AgentStack;
}

/** One deployment of Holdoff: both stacks, checked by cdk-nag when the app is synthesised. */
export function addDeployment(app: App, props: DeploymentProps): Deployment {
  const { settings, wakeDocument, root = PROJECT_ROOT } = props;
  const stackProps = { settings, tags: { ...settings.tags }, ...(props.env === undefined ? {} : { env: props.env }) };
  const controlPlane = new ControlPlane(app, `${settings.prefix}-control-plane`, {
    ...stackProps,
    root,
    nodeRoles: nodeRolesOf(settings),
  });
  const agent = new AgentStack(app, `${settings.prefix}-agent`, { ...stackProps, wakeDocument });
  // The node role attaches a policy of the control plane by name.
  agent.addStackDependency(controlPlane);
  return { controlPlane, agent };
}

/** Makes synthesis fail on any finding that nobody has acknowledged with a reason. */
export function addChecks(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
}
