import { Stack, type StackProps } from 'aws-cdk-lib';
import { CompositePrincipal, InstanceProfile, ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnDocument } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { acknowledgeAwsPolicy } from './acknowledge.ts';
import { agentPolicyOf } from './callers.ts';
import { wakeDocumentOf } from './commands.ts';
import { installDocument } from './install-document.ts';
import { type Settings, VERSION } from './settings.ts';

export interface AgentStackProps extends StackProps {
  readonly settings: Settings;
  /** The content of the wake document, as `core/contract/wake-document.ts` has it. */
  readonly wakeDocument: Readonly<Record<string, unknown>>;
}

/** The role that the agent stack makes when the deployment names none. */
const ownNodeRole = (settings: Settings): string => `${settings.prefix}-node`;

/** The document that installs agents; people send it, the control plane may not. */
export const installDocumentOf = (settings: Settings): string => `${settings.prefix}-install-agent`;

/** The roles whose instances may speak as nodes, by name: the user's, or the one that the agent stack makes. */
export const nodeRolesOf = (settings: Settings): readonly string[] =>
  settings.nodeRoles.length > 0 ? settings.nodeRoles : [ownNodeRole(settings)];

/** What nodes need: the documents that install and wake their agent, and a role if the user has none. Deployed after the control plane. */
export class AgentStack extends Stack {
  constructor(scope: Construct, id: string, props: AgentStackProps) {
    super(scope, id, { description: `Holdoff ${VERSION}: what nodes need`, ...props });
    const { settings } = props;
    new CfnDocument(this, 'WakeDocument', {
      name: wakeDocumentOf(settings),
      content: props.wakeDocument,
      documentFormat: 'JSON',
      documentType: 'Command',
      // A new version in place: the name stays, and with it the permission to send it.
      updateMethod: 'NewVersion',
    });
    new CfnDocument(this, 'InstallDocument', {
      name: installDocumentOf(settings),
      content: installDocument(),
      documentFormat: 'JSON',
      documentType: 'Command',
      updateMethod: 'NewVersion',
    });
    if (settings.nodeRoles.length === 0) this.addNodeRole(settings);
  }

  private addNodeRole(settings: Settings): void {
    const managedNode = 'AmazonSSMManagedInstanceCore';
    const role = new Role(this, 'NodeRole', {
      roleName: ownNodeRole(settings),
      description: 'For the instances that Holdoff keeps updated',
      // Only these two: anybody else who could assume it could choose a session name, which is a node's identity.
      assumedBy: new CompositePrincipal(
        new ServicePrincipal('ec2.amazonaws.com'),
        new ServicePrincipal('ssm.amazonaws.com'),
      ),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(managedNode), agentPolicyOf(this, settings)],
    });
    new InstanceProfile(this, 'NodeProfile', { role, instanceProfileName: ownNodeRole(settings) });
    acknowledgeAwsPolicy(role, managedNode, 'AWS keeps it in step with what its own agent calls.');
  }
}
