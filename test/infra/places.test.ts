import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { ENV } from '../../core/contract/names.ts';
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
      .filter(([key, value]) => NAMING.has(key) && typeof value === 'string')
      .map(([, value]) => `${Type} ${String(value)}`),
  );
}

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
