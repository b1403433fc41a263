import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { HoldoffControlPlane } from './holdoff.ts';
import { ownNodeRole } from './iam-names.ts';
import { type Settings, VERSION } from './settings.ts';

export interface ControlPlaneProps extends StackProps {
  readonly settings: Settings;
  /** The project whose `functions/` are bundled. */
  readonly root: string;
}

/** The control plane as a stack of its own, as `cdk deploy` makes it. */
export class ControlPlane extends Stack {
  readonly parts: HoldoffControlPlane;

  constructor(scope: Construct, id: string, props: ControlPlaneProps) {
    super(scope, id, { description: `Holdoff ${VERSION}: control plane`, ...props });
    const { settings, root } = props;
    // `Default` adds nothing to the names of what is in it: a stack of the time before the construct keeps its resources.
    this.parts = new HoldoffControlPlane(this, 'Default', { ...settings, root });
    // The agent stack, deployed after this one, makes that role and attaches the policy to it.
    this.parts.allowNodeRoles([ownNodeRole(this, settings)]);
    const { endpoint, table, topic } = this.parts;
    new CfnOutput(this, 'Endpoint', { value: endpoint, description: 'What agents and the CLI call' });
    new CfnOutput(this, 'TableName', { value: table.table.tableName });
    new CfnOutput(this, 'TopicArn', { value: topic.topicArn, description: 'Subscribe here to be told of alarms' });
  }
}
