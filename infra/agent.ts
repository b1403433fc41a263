import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import {
  CompositePrincipal,
  type IManagedPolicy,
  InstanceProfile,
  ManagedPolicy,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import { CfnDocument } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { WAKE_DOCUMENT } from '../core/contract/wake-document.ts';
import { acknowledgeAwsPolicy } from './acknowledge.ts';
import { agentPolicyOf } from './callers.ts';
import { wakeDocumentOf } from './commands.ts';
import type { HoldoffControlPlane } from './holdoff.ts';
import { ownNodeRole } from './iam-names.ts';
import { installDocument } from './install-document.ts';
import { type Settings, VERSION } from './settings.ts';

export interface AgentStackProps extends StackProps {
  readonly settings: Settings;
  /** The content of the wake document, as `core/contract/wake-document.ts` has it. */
  readonly wakeDocument: Readonly<Record<string, unknown>>;
}

/** The document that installs agents; people send it, the control plane may not. */
export const installDocumentOf = (settings: Settings): string => `${settings.prefix}-install-agent`;

const MANAGED_NODE = 'AmazonSSMManagedInstanceCore';

/**
 * What nodes need, in a stack of yours: the documents that wake and install their agent, and a role with an instance
 * profile whose instances may speak as nodes.
 */
export class HoldoffAgents extends Construct {
  readonly nodeRole: Role;
  readonly instanceProfile: InstanceProfile;

  constructor(scope: Construct, id: string, props: { readonly controlPlane: HoldoffControlPlane }) {
    super(scope, id);
    const { controlPlane } = props;
    addDocuments(this, controlPlane.settings, WAKE_DOCUMENT);
    [this.nodeRole, this.instanceProfile] = addNodeRole(this, controlPlane.settings, []);
    controlPlane.grantAgent(this.nodeRole);
  }
}

/** The same as a stack of its own, deployed after the control plane. */
export class AgentStack extends Stack {
  constructor(scope: Construct, id: string, props: AgentStackProps) {
    super(scope, id, { description: `Holdoff ${VERSION}: what nodes need`, ...props });
    const { settings } = props;
    addDocuments(this, settings, props.wakeDocument);
    addNodeRole(this, settings, [agentPolicyOf(this, settings)]);
  }
}

function addDocuments(scope: Construct, settings: Settings, wake: Readonly<Record<string, unknown>>): void {
  const command = (id: string, name: string, content: Readonly<Record<string, unknown>>): void => {
    // A new version in place: the name stays, and with it the permission to send it.
    const kind = { documentFormat: 'JSON', documentType: 'Command', updateMethod: 'NewVersion' };
    new CfnDocument(scope, id, { ...kind, name, content });
  };
  command('WakeDocument', wakeDocumentOf(settings), wake);
  command('InstallDocument', installDocumentOf(settings), installDocument());
}

/**
 * Made also where the user names roles, and kept when it is taken out: a running fleet may still have it, and a machine
 * whose role is gone can neither report nor be reached.
 */
function addNodeRole(
  scope: Construct,
  settings: Settings,
  policies: readonly IManagedPolicy[],
): [Role, InstanceProfile] {
  const name = ownNodeRole(scope, settings);
  const role = new Role(scope, 'NodeRole', {
    roleName: name,
    description: 'For the instances that Holdoff keeps updated',
    // Only these two: anybody else who could assume it could choose a session name, which is a node's identity.
    assumedBy: new CompositePrincipal(
      new ServicePrincipal('ec2.amazonaws.com'),
      new ServicePrincipal('ssm.amazonaws.com'),
    ),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(MANAGED_NODE), ...policies],
  });
  const profile = new InstanceProfile(scope, 'NodeProfile', { role, instanceProfileName: name });
  if (settings.removalPolicy === 'retain') {
    for (const it of [role, profile]) it.applyRemovalPolicy(RemovalPolicy.RETAIN);
  }
  acknowledgeAwsPolicy(role, MANAGED_NODE, 'AWS keeps it in step with what its own agent calls.');
  return [role, profile];
}
