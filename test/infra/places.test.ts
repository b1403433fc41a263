import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { ENV, HANDLERS } from '../../core/contract/names.ts';
import { deployed, templateOf } from './deployed.ts';

const Resources = z.record(
  z.string(),
  z.object({ Type: z.string(), Properties: z.optional(z.record(z.string(), z.unknown())) }),
);

/** Every name that the templates give to a resource, with its type: what two deployments in one account must not share. */
function namesIn(template: Template): string[] {
  const resources = Resources.parse(template.toJSON()['Resources']);
  return Object.values(resources).flatMap(({ Type, Properties = {} }) =>
    Object.entries(Properties)
      .filter(([key, value]) => NAMING.has(key) && isName(value))
      .map(([, value]) => `${Type} ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  );
}

/** A name that the template gives, in full or but for the Region; not a reference to what has one. */
const isName = (value: unknown): boolean =>
  typeof value === 'string' || JSON.stringify(value).includes('"AWS::Region"');

const NAMING = new Set([
  'AlarmName',
  'DashboardName',
  'FunctionName',
  'InstanceProfileName',
  'LogGroupName',
  'ManagedPolicyName',
  'Name',
  'QueueName',
  'RoleName',
  'TableName',
  'TopicName',
]);

describe('two deployments in one account', { timeout: 120_000 }, () => {
  test('share no name', () => {
    const [first, second] = ['holdoff', 'staging'].map((prefix) => {
      const { controlPlane, agent } = deployed({ context: { prefix } });
      expect(controlPlane.stackName).toBe(`${prefix}-control-plane`);
      expect(agent.stackName).toBe(`${prefix}-agent`);
      return [controlPlane, agent].flatMap((stack) => namesIn(templateOf(stack)));
    });
    expect(first?.length).toBeGreaterThan(30);
    expect(first?.filter((name) => second?.includes(name) ?? true)).toEqual([]);
    expect([...(first ?? []), ...(second ?? [])].filter((name) => !/holdoff|staging/.test(name))).toEqual([]);
  });
});

describe('one deployment in two Regions of an account', { timeout: 120_000 }, () => {
  test('shares no name of IAM, which is one for all Regions', () => {
    const [first, second] = ['eu-central-1', 'us-east-1'].map((region) => {
      const { controlPlane, agent } = deployed({ env: { account: '123456789012', region } });
      const names = [controlPlane, agent].flatMap((stack) => namesIn(templateOf(stack)));
      return names.filter((name) => name.startsWith('AWS::IAM::'));
    });
    expect(first?.toSorted()).toEqual([
      'AWS::IAM::InstanceProfile holdoff-node-eu-central-1',
      'AWS::IAM::ManagedPolicy holdoff-agent-eu-central-1',
      'AWS::IAM::ManagedPolicy holdoff-operator-eu-central-1',
      'AWS::IAM::ManagedPolicy holdoff-viewer-eu-central-1',
      'AWS::IAM::Role holdoff-node-eu-central-1',
    ]);
    expect(first?.filter((name) => second?.includes(name) ?? true)).toEqual([]);
  });
});

/**
 * Texts that CloudFormation cannot change in place, by type: it would make the resource anew, under a name that is taken.
 * A type that has a name in a template and is not here has no such text.
 */
const REPLACING_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'AWS::IAM::ManagedPolicy': ['Description', 'Path'],
  'AWS::IAM::InstanceProfile': ['Path'],
  'AWS::IAM::Role': ['Path'],
  'AWS::SSM::Document': ['VersionName', 'TargetType'],
  'AWS::ApiGatewayV2::DomainName': [],
  'AWS::CloudWatch::Alarm': [],
  'AWS::CloudWatch::Dashboard': [],
  'AWS::ApiGatewayV2::Api': [],
  'AWS::Events::EventBus': [],
  'AWS::Lambda::Function': [],
  'AWS::Logs::LogGroup': [],
  'AWS::Scheduler::ScheduleGroup': [],
  'AWS::SNS::Topic': [],
  'AWS::SQS::Queue': [],
};

/** What CDK writes where nothing is said. */
const CONSTANT = new Set<unknown>(['', '/']);

test('an edit of a text replaces nothing that has a name', { timeout: 120_000 }, () => {
  const { controlPlane, agent } = deployed();
  const resources = [controlPlane, agent].flatMap((stack) =>
    Object.values(Resources.parse(templateOf(stack).toJSON()['Resources'])),
  );
  const named = resources.filter(({ Properties = {} }) =>
    Object.entries(Properties).some(([key, value]) => NAMING.has(key) && isName(value)),
  );
  expect(named.map(({ Type }) => Type).filter((type) => !(type in REPLACING_TEXTS))).toEqual([]);
  const texts = named.flatMap(({ Type, Properties = {} }) =>
    (REPLACING_TEXTS[Type] ?? []).filter((key) => !CONSTANT.has(Properties[key] ?? '')).map((key) => `${Type} ${key}`),
  );
  expect(texts).toEqual([]);
});

describe('what the user asked for', { timeout: 120_000 }, () => {
  test('tags are tags of both stacks, and so of everything in them', () => {
    const { app, controlPlane, agent } = deployed({ context: { tags: 'team=os,env=prod' } });
    const assembly = app.synth();
    for (const { stackName } of [controlPlane, agent])
      expect(assembly.getStackByName(stackName).tags).toEqual({ team: 'os', env: 'prod' });
  });

  test('a domain closes the name that API Gateway made, and its record is made in the zone given', () => {
    const context = {
      domain: 'holdoff.corp.example',
      domainCertificate: 'arn:aws:acm:eu-central-1:123456789012:certificate/11111111-2222-3333-4444-555555555555',
      domainHostedZone: 'Z0123456789ABC',
    };
    const { app, controlPlane } = deployed({ context, checks: true });
    const template = templateOf(controlPlane);
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { DisableExecuteApiEndpoint: true });
    template.hasResourceProperties('AWS::ApiGatewayV2::DomainName', { DomainName: context.domain });
    template.resourceCountIs('AWS::ApiGatewayV2::ApiMapping', 1);
    template.hasResourceProperties('AWS::Route53::RecordSet', { HostedZoneId: context.domainHostedZone, Type: 'A' });
    template.hasOutput('Endpoint', { Value: 'https://holdoff.corp.example' });
    expect(() => app.synth()).not.toThrow();
  });

  test('a key of the user encrypts the table and every queue, and each handler may use it for nothing else', () => {
    const encryptionKey = 'arn:aws:kms:eu-central-1:123456789012:key/11111111-2222-3333-4444-555555555555';
    const { app, controlPlane } = deployed({ context: { encryptionKey }, checks: true });
    const template = templateOf(controlPlane);
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
      Replicas: [Match.objectLike({ SSESpecification: { KMSMasterKeyId: encryptionKey } })],
    });
    template.allResourcesProperties('AWS::SQS::Queue', { KmsMasterKeyId: encryptionKey });
    const policies = Object.values(template.findResources('AWS::IAM::Policy')).map((it) => JSON.stringify(it));
    const using = policies.filter((text) => text.includes('kms:Decrypt'));
    expect(using).toHaveLength(HANDLERS.length + 1);
    expect(using.filter((text) => !text.includes('kms:ViaService'))).toEqual([]);
    expect(() => app.synth()).not.toThrow();
  });

  test('a restored table takes the place of the one that the stack made, which is kept', () => {
    const { app, controlPlane } = deployed({ context: { restoredTable: 'holdoff-2026-11-30' }, checks: true });
    const template = templateOf(controlPlane);
    template.resourceCountIs('AWS::DynamoDB::GlobalTable', 1);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ [ENV.table]: 'holdoff-2026-11-30' }) },
    });
    const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'));
    expect(policies).toContain('table/holdoff-2026-11-30');
    expect(() => app.synth()).not.toThrow();
  });
});

describe('in any partition', { timeout: 120_000 }, () => {
  test.each(['eu-central-1', 'us-gov-west-1', 'us-gov-east-1', 'cn-north-1', 'cn-northwest-1'])(
    '%s synthesises, with no ARN of another',
    (region) => {
      const { app, controlPlane, agent } = deployed({ env: { account: '123456789012', region }, checks: true });
      expect(() => app.synth()).not.toThrow();
      for (const stack of [controlPlane, agent])
        expect(JSON.stringify(templateOf(stack).toJSON())).not.toContain('arn:aws:');
    },
  );
});
