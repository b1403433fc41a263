import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, LoggingFormat, Runtime, SystemLogLevel } from 'aws-cdk-lib/aws-lambda';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import {
  type BundlingOptions,
  NodejsFunction,
  type NodejsFunctionProps,
  OutputFormat,
} from 'aws-cdk-lib/aws-lambda-nodejs';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { join } from 'node:path';
import type { HandlerName } from '../core/contract/names.ts';
import { grantKey } from './key.ts';
import type { Settings } from './settings.ts';

/** What a bundle has instead of a package: found below the project, from where it is bundled. */
export const BUNDLE_ALIASES: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': './functions/aws/lambda-credentials.ts',
};

/** How every handler is bundled; test/infra/bundles.test.ts measures with the same options. */
export const BUNDLING: BundlingOptions = {
  format: OutputFormat.ESM,
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  bundleAwsSDK: true,
  esbuildArgs: Object.fromEntries(Object.entries(BUNDLE_ALIASES).map(([name, path]) => [`--alias:${name}`, path])),
};

/** What all handlers of a deployment share. */
export interface HandlerDefaults {
  readonly settings: Settings;
  /** The project: `functions/<handler>.ts` for each handler, and the lock file, are found below it. */
  readonly root: string;
  /** A folder with `<handler>/index.mjs` for each handler, bundled before; none: they are bundled now. */
  readonly prebuilt?: string;
  /** The key of the table and the queues, when it is the user's. */
  readonly key: IKey | null;
}

export interface HandlerFunctionProps extends HandlerDefaults {
  readonly handler: HandlerName;
  /** One line for the console: what wakes it and what it does. */
  readonly description: string;
  readonly timeout: Duration;
  /** Where an event goes that was delivered asynchronously and failed for good; none for synchronous callers. */
  readonly failures?: IQueue;
  /** Concurrency kept for it; none: what the account has left. */
  readonly reserved?: number | undefined;
  /** Of memory, with which CPU comes: 1769 MiB are a whole one. None: 1024. */
  readonly memoryMiB?: number;
}

/** One handler: its function, a role that can so far only write its own log, and that log. */
export class HandlerFunction extends Construct {
  readonly function: NodejsFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;
  readonly handler: HandlerName;

  constructor(scope: Construct, id: string, props: HandlerFunctionProps) {
    super(scope, id);
    const { settings, handler } = props;
    const functionName = functionNameOf(settings, handler);
    this.handler = handler;
    this.logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: settings.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `Holdoff ${handler} handler`,
    });
    this.logGroup.grantWrite(this.role);
    if (props.key !== null) grantKey(this.role, props.key);
    this.function = new NodejsFunction(this, 'Function', {
      functionName,
      description: props.description,
      ...codeOf(props),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      // A cold start is bound by CPU, which comes with memory: this is a little more than half a vCPU.
      memorySize: props.memoryMiB ?? 1024,
      timeout: props.timeout,
      role: this.role,
      logGroup: this.logGroup,
      // START, END and REPORT of each call would be half of what a fleet at rest writes; CloudWatch has their figures as metrics.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      ...(props.reserved === undefined ? {} : { reservedConcurrentExecutions: props.reserved }),
    });
    const { failures } = props;
    if (failures !== undefined) {
      this.function.configureAsyncInvoke({
        onFailure: new SqsDestination(failures),
        retryAttempts: 2,
        // After that the sweep has done the same work from the table.
        maxEventAge: Duration.minutes(15),
      });
    }
    Validations.of(this.function).acknowledge(
      {
        id: 'Serverless-LambdaTracing',
        reason: 'No tracer is bundled (41 ms of cold start); log lines and events tell what was decided and why.',
      },
      {
        id: 'Serverless-LambdaDLQ',
        reason:
          failures === undefined
            ? 'Invoked synchronously (API Gateway, or a queue with its own dead-letter queue): there is nothing to drop.'
            : 'An on-failure destination takes the place of the older dead-letter setting.',
      },
      {
        id: 'Serverless-LambdaEventSourceMappingDestination',
        reason: 'The mapping reads a queue, and the queue has a dead-letter queue; destinations are for streams.',
      },
    );
  }
}

/** Where the code comes from: bundled before it was packed, or from the sources. */
function codeOf({ handler, prebuilt, root }: HandlerFunctionProps): Partial<NodejsFunctionProps> {
  if (prebuilt !== undefined) return { code: Code.fromAsset(join(prebuilt, handler)), handler: 'index.handler' };
  return {
    entry: join(root, 'functions', `${handler}.ts`),
    projectRoot: root,
    depsLockFilePath: join(root, 'package-lock.json'),
    bundling: BUNDLING,
  };
}

/** The function's name, known before the function exists: its own environment has to hold it. */
export const functionNameOf = (settings: Settings, handler: HandlerName): string => `${settings.prefix}-${handler}`;
