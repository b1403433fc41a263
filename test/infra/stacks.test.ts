import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { ENV, HANDLERS } from '../../core/contract/names.ts';
import { TABLE } from '../../core/contract/table.ts';
import { AGENT_ROUTES } from '../../infra/api.ts';
import { deployed, templateOf } from './deployed.ts';

const Route = z.object({ Properties: z.object({ RouteKey: z.string(), AuthorizationType: z.string() }) });
const FunctionResource = z.object({
  Properties: z.object({
    FunctionName: z.string(),
    Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
  }),
});

const { controlPlane, agent } = deployed();
const template = templateOf(controlPlane);

describe('the table', { timeout: 120_000 }, () => {
  test('is on demand with a fuse, can be restored, is protected and stays when the stack goes', () => {
    template.hasResource('AWS::DynamoDB::GlobalTable', {
      DeletionPolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        WriteOnDemandThroughputSettings: { MaxWriteRequestUnits: 4000 },
        TimeToLiveSpecification: { AttributeName: TABLE.timeToLiveAttribute, Enabled: true },
        Replicas: [
          Match.objectLike({
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
            ReadOnDemandThroughputSettings: { MaxReadRequestUnits: 4000 },
          }),
        ],
      },
    });
  });

  test('has the keys and indexes of core/contract/table.ts', () => {
    const schema = (key: { partition: string; sort: string }) => [
      { AttributeName: key.partition, KeyType: 'HASH' },
      { AttributeName: key.sort, KeyType: 'RANGE' },
    ];
    template.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      KeySchema: schema(TABLE.key),
      GlobalSecondaryIndexes: Object.entries(TABLE.indexes).map(([name, key]) =>
        Match.objectLike({ IndexName: name, KeySchema: schema(key), Projection: { ProjectionType: 'KEYS_ONLY' } }),
      ),
    });
  });

  test('goes with the stack when the user says so', () => {
    templateOf(deployed({ context: { removalPolicy: 'destroy' } }).controlPlane).hasResource(
      'AWS::DynamoDB::GlobalTable',
      { DeletionPolicy: 'Delete', Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })] } },
    );
  });
});

describe('the outputs', { timeout: 120_000 }, () => {
  test('have the names that README and docs/deploy.md give them', () => {
    const names = Object.keys(template.findOutputs('*'));
    expect(names.toSorted()).toEqual(['Endpoint', 'TableName', 'TopicArn']);
    const page = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
    const documented = page.slice(page.indexOf('| output |')).split('\n\n')[0] ?? '';
    expect([...documented.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).toEqual(names);
  });
});

describe('the API', { timeout: 120_000 }, () => {
  test('lets nobody in without a signature', () => {
    const routes = Object.values(template.findResources('AWS::ApiGatewayV2::Route'));
    expect(routes.map((route: unknown) => Route.parse(route).Properties)).toEqual(
      expect.arrayContaining([{ RouteKey: 'ANY /v1/{proxy+}', AuthorizationType: 'AWS_IAM' }]),
    );
    expect(routes).toHaveLength(AGENT_ROUTES.length + 1);
    template.allResourcesProperties('AWS::ApiGatewayV2::Route', { AuthorizationType: 'AWS_IAM' });
  });

  test('speaks payload 2.0, is throttled for agents and people apart, and logs who called, but no body', () => {
    template.hasResourceProperties('AWS::ApiGatewayV2::Integration', { PayloadFormatVersion: '2.0' });
    template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      StageName: '$default',
      AccessLogSettings: { Format: Match.stringLikeRegexp('\\$context\\.identity\\.userArn') },
      DefaultRouteSettings: { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
      RouteSettings: Object.fromEntries(
        AGENT_ROUTES.map(({ method, path }) => [
          `${method} ${path}`,
          { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1000 },
        ]),
      ),
    });
  });
});

describe('the handlers', { timeout: 120_000 }, () => {
  let functions: z.infer<typeof FunctionResource>['Properties'][] = [];
  beforeAll(() => {
    functions = Object.values(template.findResources('AWS::Lambda::Function')).map(
      (it: unknown) => FunctionResource.parse(it).Properties,
    );
  });

  test('are one function each, on Node 24 and ARM', () => {
    expect(functions.map(({ FunctionName }) => FunctionName).toSorted()).toEqual(
      HANDLERS.map((handler) => `holdoff-${handler}`).toSorted(),
    );
    template.allResourcesProperties('AWS::Lambda::Function', { Runtime: 'nodejs24.x', Architectures: ['arm64'] });
  });

  test('log what is wrong and what is said, not that they ran, and the API has the memory that is cheapest for it', () => {
    template.allResourcesProperties('AWS::Lambda::Function', {
      LoggingConfig: Match.objectLike({ LogFormat: 'JSON', SystemLogLevel: 'WARN' }),
    });
    template.hasResourceProperties('AWS::Lambda::Function', { FunctionName: 'holdoff-api', MemorySize: 512 });
  });

  test('are told every name of core/contract/names.ts', () => {
    for (const { Environment } of functions) {
      expect(Object.keys(Environment.Variables)).toEqual(expect.arrayContaining(Object.values(ENV)));
    }
  });

  test('are told of an SSM endpoint only when the user names one', () => {
    const variable = { Environment: { Variables: { AWS_ENDPOINT_URL_SSM: Match.absent() } } };
    template.allResourcesProperties('AWS::Lambda::Function', variable);
    const ssmEndpoint = 'https://ssm-fips.us-east-1.amazonaws.com';
    templateOf(deployed({ context: { ssmEndpoint } }).controlPlane).allResourcesProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ AWS_ENDPOINT_URL_SSM: ssmEndpoint }) },
    });
  });

  test('reserve no concurrency, which would break a new account, unless the user says how much', () => {
    template.allResourcesProperties('AWS::Lambda::Function', { ReservedConcurrentExecutions: Match.absent() });
    const reserving = templateOf(deployed({ context: { timerConcurrency: '20', sweepConcurrency: '1' } }).controlPlane);
    for (const [FunctionName, ReservedConcurrentExecutions] of [
      ['holdoff-timer', 20],
      ['holdoff-sweep', 1],
      ['holdoff-api', Match.absent()],
    ]) {
      reserving.hasResourceProperties('AWS::Lambda::Function', { FunctionName, ReservedConcurrentExecutions });
    }
  });

  test('keep their logs for 30 days', () => {
    template.resourceCountIs('AWS::Logs::LogGroup', HANDLERS.length + 1);
    template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
  });

  test('do not lose what was delivered asynchronously', () => {
    template.resourceCountIs('AWS::Lambda::EventInvokeConfig', 5);
    template.allResourcesProperties('AWS::Lambda::EventInvokeConfig', {
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
    });
  });
});

describe('timers, commands, events and the sweep', { timeout: 120_000 }, () => {
  test('the vernier is read at once, wakes in batches by two readers at most', () => {
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 10,
      MaximumBatchingWindowInSeconds: 0,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 50,
      MaximumBatchingWindowInSeconds: 1,
      ScalingConfig: { MaximumConcurrency: 2 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });

  test('only wakes of this deployment are listened to, and only those that failed', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.ssm'],
        'detail-type': ['EC2 Command Invocation Status-change Notification'],
        detail: {
          'document-name': ['holdoff-wake'],
          status: [{ 'anything-but': ['Pending', 'InProgress', 'Delayed', 'Cancelling', 'Success'] }],
        },
      },
    });
  });

  test('machines are heard of when they stop, start or end, and when they are deregistered', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.ec2'],
        'detail-type': ['EC2 Instance State-change Notification'],
        detail: { state: ['stopped', 'running', 'terminated'] },
      },
    });
    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.ssm'],
        'detail-type': ['AWS API Call via CloudTrail'],
        detail: { eventSource: ['ssm.amazonaws.com'], eventName: ['DeregisterManagedInstance'] },
      },
    });
  });

  test('our own events go to the log, and the sweep runs every three minutes', () => {
    template.hasResourceProperties('AWS::Events::Rule', { EventPattern: { source: ['holdoff'] } });
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(3 minutes)' });
  });

  test('every rule hands over what it cannot deliver', () => {
    template.allResourcesProperties('AWS::Events::Rule', {
      Targets: [Match.objectLike({ DeadLetterConfig: Match.anyValue(), RetryPolicy: Match.anyValue() })],
    });
  });
});

describe('the agent stack', { timeout: 120_000 }, () => {
  const agentTemplate = templateOf(agent);

  test('has the wake document, whose parameters reach the script as variables only', () => {
    agentTemplate.hasResourceProperties('AWS::SSM::Document', {
      Name: 'holdoff-wake',
      UpdateMethod: 'NewVersion',
      Content: {
        schemaVersion: '2.2',
        parameters: {
          wakeId: Match.objectLike({ interpolationType: 'ENV_VAR', allowedPattern: Match.anyValue() }),
          generation: Match.objectLike({ interpolationType: 'ENV_VAR', allowedPattern: Match.anyValue() }),
        },
      },
    });
    const documents = JSON.stringify(agentTemplate.findResources('AWS::SSM::Document'));
    expect(documents).not.toMatch(/\{\{/);
  });

  const regional = (name: string) => ({ 'Fn::Join': ['', [`${name}-`, { Ref: 'AWS::Region' }]] });

  test.each([
    ['no role is named', ''],
    ['the user names roles', 'Web,Db'],
  ])('makes a node role of its own, kept when it is taken out, where %s', (_, nodeRoles) => {
    const { agent: stack, controlPlane: plane } = deployed({ context: { nodeRoles } });
    const named = nodeRoles === '' ? [] : nodeRoles.split(',');
    templateOf(stack).hasResource('AWS::IAM::Role', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: { RoleName: regional('holdoff-node') },
    });
    templateOf(stack).hasResource('AWS::IAM::InstanceProfile', { DeletionPolicy: 'Retain' });
    templateOf(plane).hasResourceProperties('AWS::IAM::ManagedPolicy', {
      ManagedPolicyName: regional('holdoff-agent'),
      Roles: named.length > 0 ? named : Match.absent(),
    });
    templateOf(plane).hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          [ENV.nodeRoles]: regional([...named, 'holdoff-node'].join(',')),
        }),
      },
    });
  });

  test('the node role goes with a deployment of which nothing is to be left', () => {
    const { agent: stack } = deployed({ context: { removalPolicy: 'destroy' } });
    templateOf(stack).hasResource('AWS::IAM::Role', { DeletionPolicy: Match.absent() });
  });
});
