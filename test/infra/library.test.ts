/** Another CDK app uses what `npm pack` makes of this repository: its types, its constructs, its bundled handlers. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { HANDLERS } from '../../core/contract/names.ts';

const repository = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'holdoff-library-'));
const modules = join(folder, 'node_modules');

const APP = `import { App, Stack } from 'aws-cdk-lib';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { HoldoffAgents, HoldoffControlPlane, type HoldoffControlPlaneProps } from 'holdoff';

const app = new App({ outdir: 'cdk.out' });
const stack = new Stack(app, 'Platform');
const props: HoldoffControlPlaneProps = { prefix: 'fleet', nodeTag: { key: 'env', value: 'prod' }, sweepConcurrency: 1 };
const holdoff = new HoldoffControlPlane(stack, 'Holdoff', props);
const agents = new HoldoffAgents(stack, 'Agents', { controlPlane: holdoff });
const web = new Role(stack, 'Web', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
holdoff.grantAgent(web);
holdoff.grantOperate(new Role(stack, 'Pipeline', { assumedBy: new ServicePrincipal('codebuild.amazonaws.com') }));
holdoff.grantView(new Role(stack, 'Wall', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') }));
holdoff.addAlarmAction(new SnsAction(new Topic(stack, 'Pager')));
holdoff.metric('NodeCrash', { group: 'web' }).createAlarm(stack, 'WebCrashes', { threshold: 3, evaluationPeriods: 1 });
if (holdoff.alarms['gave-up'] === undefined || agents.instanceProfile.instanceProfileName === '') process.exit(1);
app.synth();
`;
const TSCONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    types: ['node'],
    skipLibCheck: false,
    noLib: false,
  },
  files: ['app.ts'],
};
const Resources = z.record(
  z.string(),
  z.object({ Type: z.string(), Properties: z.optional(z.record(z.string(), z.unknown())) }),
);

let resources: z.infer<typeof Resources> = {};
const of = (type: string): Record<string, unknown>[] =>
  Object.values(resources).flatMap(({ Type, Properties }) =>
    Type === type && Properties !== undefined ? [Properties] : [],
  );

beforeAll(() => {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: repository, stdio: 'pipe' });
  const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? 'none';
  mkdirSync(join(modules, 'holdoff'), { recursive: true });
  execFileSync('tar', ['xzf', join(folder, tarball), '--strip-components=1', '-C', join(modules, 'holdoff')]);
  // As npm would install them beside it: what the package depends on, and the app's own CDK.
  for (const name of ['aws-cdk-lib', 'constructs', 'croner', 'zod', '@types'])
    symlinkSync(join(repository, 'node_modules', name), join(modules, name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'app.ts'), APP);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  execFileSync(process.execPath, [join(repository, 'node_modules/typescript/bin/tsc'), '--project', folder], {
    cwd: folder,
    stdio: 'pipe',
  });
  execFileSync(process.execPath, ['app.js'], { cwd: folder, stdio: 'pipe' });
  const template: unknown = JSON.parse(readFileSync(join(folder, 'cdk.out/Platform.template.json'), 'utf8'));
  resources = z.object({ Resources }).parse(template).Resources;
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packed construct in an app of somebody else', () => {
  test('brings every handler bundled: nothing is built where it is used', () => {
    expect(of('AWS::Lambda::Function').map(({ FunctionName }) => FunctionName)).toEqual(
      expect.arrayContaining(HANDLERS.map((handler) => `fleet-${handler}`)),
    );
    for (const handler of HANDLERS)
      expect(existsSync(join(modules, 'holdoff/dist/bundles', handler, 'index.mjs'))).toBe(true);
  });

  test('holds no sources and no tests, but its licence', () => {
    expect(readdirSync(join(modules, 'holdoff/cli'))).toEqual(['holdoff.mjs']);
    expect(readdirSync(join(modules, 'holdoff')).toSorted()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'cli', 'dist', 'package.json'].toSorted(),
    );
  });

  test('grants a role what an agent calls, and hears its instances', () => {
    const [agents] = of('AWS::IAM::ManagedPolicy').filter((it) => JSON.stringify(it).includes('fleet-agent-'));
    const api = of('AWS::Lambda::Function').find(({ FunctionName }) => FunctionName === 'fleet-api');
    for (const it of [agents, api]) {
      const text = JSON.stringify(it);
      expect(text).toContain('{"Ref":"Web');
      expect(text).toContain('{"Ref":"AgentsNodeRole');
    }
  });

  test('grants people by statement, a refusal included', () => {
    const policies = of('AWS::IAM::Policy').map((it) => JSON.stringify(it));
    const pipeline = policies.find((it) => it.includes('"Roles":[{"Ref":"Pipeline'));
    const wall = policies.find((it) => it.includes('"Roles":[{"Ref":"Wall'));
    expect(pipeline).toContain('/$default/*/v1/*');
    expect(wall).toContain('/$default/GET/v1/*');
    expect(wall).not.toContain('/$default/*/v1/*');
  });

  test('tells the topic of the app too, and measures per group', () => {
    const alarms = of('AWS::CloudWatch::Alarm').filter(({ AlarmName }) => typeof AlarmName === 'string');
    expect(alarms.length).toBeGreaterThan(15);
    for (const { AlarmActions } of alarms) expect(AlarmActions).toHaveLength(2);
    const own = of('AWS::CloudWatch::Alarm').find(({ AlarmName }) => AlarmName === undefined);
    expect(JSON.stringify(own)).toContain('{"Name":"Group","Value":"web"}');
    expect(JSON.stringify(own)).toContain('"Namespace":"Holdoff/fleet"');
  });
});
