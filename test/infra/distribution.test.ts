/** How the agent gets onto nodes: the document that installs it, and the optional stack with its image. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { installDocument } from '../../infra/install-document.ts';
import { deployed, templateOf } from './deployed.ts';

const Content = z.object({
  parameters: z.record(
    z.string(),
    z.looseObject({ allowedPattern: z.string(), interpolationType: z.literal('ENV_VAR') }),
  ),
  mainSteps: z.tuple([z.looseObject({ inputs: z.looseObject({ runCommand: z.array(z.string()) }) })]),
});
const document = Content.parse(installDocument());
const distribution = (name: string): string =>
  readFileSync(new URL(`../../agent/distribution/${name}`, import.meta.url), 'utf8');

describe('the document that installs agents', { timeout: 120_000 }, () => {
  test('is in the agent stack, under a name of this deployment', () => {
    templateOf(deployed({ context: { prefix: 'blue' } }).agent).hasResourceProperties('AWS::SSM::Document', {
      Name: 'blue-install-agent',
      DocumentType: 'Command',
    });
  });

  test('takes every value as an environment variable with a narrow pattern, and puts none into its text', () => {
    expect(JSON.stringify(document)).not.toContain('{{');
    const pattern = (name: string): RegExp => new RegExp(document.parameters[name]?.allowedPattern ?? 'none');
    expect(pattern('source').test('https://example.com/a$(reboot).mjs')).toBe(false);
    expect(pattern('source').test('s3://bucket/holdoff/agent.mjs')).toBe(true);
    expect(pattern('sha256').test('F'.repeat(64))).toBe(false);
    expect(pattern('endpoint').test('http://example.com')).toBe(false);
    expect(pattern('group').test('web')).toBe(true);
  });

  test('writes the installer and the unit as they are here, and runs the installer with the values', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdoff-document-'));
    const lines = document.mainSteps[0].inputs.runCommand.map((line) =>
      line === 'sh "$folder/install.sh" || exit 1'
        ? `cp -R "$folder"/* "${folder}"; env | grep ^HOLDOFF_ | sort`
        : line,
    );
    const env = {
      PATH: '/usr/bin:/bin',
      SSM_source: 's3://b/a',
      SSM_sha256: 'aa',
      SSM_endpoint: 'https://x',
      SSM_region: '',
      SSM_group: 'web',
      SSM_driver: 'script',
      SSM_scripts: 'ubuntu',
    };
    const ran = spawnSync('/bin/sh', ['-c', lines.join('\n')], { env, encoding: 'utf8' });
    expect(ran.stderr).toBe('');
    expect(ran.stdout.trim().split('\n')).toEqual([
      'HOLDOFF_DRIVER=script',
      'HOLDOFF_ENDPOINT=https://x',
      'HOLDOFF_GROUP=web',
      'HOLDOFF_REGION=',
      'HOLDOFF_SCRIPTS=ubuntu',
      'HOLDOFF_SHA256=aa',
      'HOLDOFF_SOURCE=s3://b/a',
    ]);
    for (const name of ['install.sh', 'holdoff-agent.service', 'hosts/amazon-linux-2023.sh', 'hosts/ubuntu.sh'])
      expect(readFileSync(join(folder, name), 'utf8')).toBe(distribution(name));
    rmSync(folder, { recursive: true });
  });

  test('an SSM agent that passes no parameters is told so', () => {
    const ran = spawnSync('/bin/sh', ['-c', document.mainSteps[0].inputs.runCommand.join('\n')], {
      env: { PATH: '/usr/bin:/bin' },
      encoding: 'utf8',
    });
    expect([ran.status, ran.stderr]).toEqual([
      1,
      'Holdoff: this SSM Agent is too old: it did not pass the parameters\n',
    ]);
  });
});

describe('the stack with the image', { timeout: 120_000 }, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdoff-image-'));
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist/agent.mjs'), '');
    writeFileSync(join(folder, 'Dockerfile'), distribution('Dockerfile'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is there only when it is asked for', () => {
    expect(deployed().agentImage).toBeNull();
  });

  test('says the address of the image, and lets the node roles pull it and nothing else', () => {
    const { app, agentImage } = deployed({
      context: { agentImage: 'arm64', nodeRoles: 'Web,Db' },
      checks: true,
      agentFolder: folder,
    });
    if (agentImage === null) throw new Error('no stack');
    expect(() => app.synth()).not.toThrow();
    const template = templateOf(agentImage);
    template.hasOutput('ImageUri', {});
    // Of the role that the deployment makes, and of the two that are named.
    template.resourceCountIs('AWS::IAM::Policy', 3);
    const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'));
    const actions = [...policies.matchAll(/"ecr:(\w+)"/g)].map(([, action]) => action);
    expect(new Set(actions)).toEqual(
      new Set(['BatchCheckLayerAvailability', 'BatchGetImage', 'GetAuthorizationToken', 'GetDownloadUrlForLayer']),
    );
  });

  test('is in no way part of the control plane', () => {
    const { controlPlane } = deployed({ context: { agentImage: 'arm64' }, agentFolder: folder });
    const ofTheRegistry = JSON.stringify(templateOf(controlPlane).toJSON()).match(/"ecr:\w+"|AWS::ECR/g);
    expect(ofTheRegistry).toBeNull();
  });
});

describe('the files a person copies', () => {
  test('the user data name the container that the wake document looks for', async () => {
    const { AGENT_CONTAINER } = await import('../../core/contract/wake-document.ts');
    expect(distribution('bottlerocket.toml')).toContain(`[settings.host-containers.${AGENT_CONTAINER}]`);
  });

  test('the container keeps its state where Bottlerocket keeps it, and reads its settings from its own user data', () => {
    expect(distribution('defaults.env')).toContain('HOLDOFF_STATE_DIR=/.bottlerocket/host-containers/current/state');
    expect(distribution('Dockerfile')).toContain(
      '--env-file-if-exists=/.bottlerocket/host-containers/current/user-data',
    );
  });

  test('the unit leaves what the agent launched running', () => {
    expect(distribution('holdoff-agent.service')).toMatch(/^KillMode=process$/m);
    expect(distribution('holdoff-agent.service')).toMatch(/^EnvironmentFile=-\/etc\/holdoff\/agent\.env$/m);
  });
});
