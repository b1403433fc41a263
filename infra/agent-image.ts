import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Role } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import { ownNodeRole } from './iam-names.ts';
import { PROJECT_ROOT, type Settings, VERSION } from './settings.ts';

export interface AgentImageProps extends StackProps {
  readonly settings: Settings;
  /** A folder that is ready to be built. Default: the agent of this repository, bundled now. */
  readonly folder?: string;
}

/**
 * The agent as a host container of Bottlerocket, optional and by itself: building it needs Docker where it is deployed
 * from. The image goes to the account's own repository of CDK assets (ECR), tagged by its content.
 */
export class AgentImageStack extends Stack {
  constructor(scope: Construct, id: string, props: AgentImageProps) {
    super(scope, id, { description: `Holdoff ${VERSION}: the agent's image for Bottlerocket`, ...props });
    const { settings } = props;
    const folder = props.folder ?? bundled();
    const image = new DockerImageAsset(this, 'Image', {
      directory: folder,
      displayName: 'Holdoff agent',
      platform: settings.agentImage === 'x86_64' ? Platform.LINUX_AMD64 : Platform.LINUX_ARM64,
    });
    // It has been copied into the assembly.
    if (props.folder === undefined) rmSync(folder, { recursive: true });
    const own = ['own', ownNodeRole(this, settings)] as const;
    for (const [key, name] of [own, ...settings.nodeRoles.map((it) => [it, it] as const)]) {
      const role = Role.fromRoleName(this, `Puller-${key}`, name);
      image.repository.grantPull(role);
      acknowledgeWildcard(
        role,
        '*',
        'ecr:GetAuthorizationToken knows no resource; pulling is granted for one repository.',
      );
    }
    new CfnOutput(this, 'ImageUri', {
      value: image.imageUri,
      description: 'settings.host-containers.holdoff.source in the user data of a node',
    });
  }
}

/** The folder that is the image's context: nothing but the bundled agent and its Dockerfile, so that it is the same each time. */
function bundled(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdoff-agent-image-'));
  mkdirSync(join(folder, 'dist'));
  execFileSync(process.execPath, [`${PROJECT_ROOT}agent/build.mjs`, join(folder, 'dist/agent.mjs')]);
  mkdirSync(join(folder, 'agent/distribution'), { recursive: true });
  for (const [from, to] of [
    ['Dockerfile', 'Dockerfile'],
    ['defaults.env', 'agent/distribution/defaults.env'],
  ] as const)
    copyFileSync(`${PROJECT_ROOT}agent/distribution/${from}`, join(folder, to));
  return folder;
}
