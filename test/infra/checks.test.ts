import { Queue } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, test } from 'vitest';
import { deployed } from './deployed.ts';

describe('cdk-nag, packs AwsSolutions and Serverless', { timeout: 120_000 }, () => {
  test.each([
    ['by default', {}],
    [
      'with roles, a tag and an address of the user',
      { nodeRoles: 'Web,Db', nodeTag: 'env=prod', alarmEmail: 'a@example.com' },
    ],
    ['when everything is to go with the stack', { removalPolicy: 'destroy' }],
  ])('nothing unacknowledged %s', (_name, context) => {
    expect(() => deployed({ context, checks: true }).app.synth()).not.toThrow();
  });

  test('a queue without encryption in transit stops the synthesis', () => {
    const { app, controlPlane } = deployed({ checks: true });
    new Queue(controlPlane, 'Planted');
    expect(() => app.synth()).toThrow(/AwsSolutions-SQS4/);
  });

  test('a wider wildcard than the acknowledged one stops the synthesis', () => {
    const { app, controlPlane } = deployed({ checks: true });
    controlPlane.parts.table.table.grants.readData(controlPlane.parts.events.log.role);
    expect(() => app.synth()).toThrow(/AwsSolutions-IAM5\[Resource::.*index/);
  });
});
