// @ts-nocheck
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
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

describe('in any partition', { timeout: 120_000 }, () => {
  test.each(['eu-central-1', 'us-gov-west-1', 'cn-north-1'])('%s synthesises, with no ARN of another', (region) => {
    const { app, controlPlane, agent } = deployed({ env: { account: '123456789012', region }, checks: true });
    expect(() => app.synth()).not.toThrow();
    for (const stack of [controlPlane, agent])
      expect(JSON.stringify(templateOf(stack).toJSON())).not.toContain('arn:aws:');
  });
});
