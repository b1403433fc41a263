import { CfnOutput, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  CfnStage,
  DomainName,
  HttpApi,
  HttpMethod,
  type HttpRoute,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnRecordSet } from 'aws-cdk-lib/aws-route53';
import { Construct } from 'constructs';
import { isAgents, type Route } from '../core/contract/route.ts';
import { ROUTE_NAMES, ROUTES } from '../core/contract/routes.ts';
import { type HandlerDefaults, HandlerFunction } from './function.ts';
import type { Domain } from './settings.ts';

/** As API Gateway writes a path: `{nodeId}` for a parameter. */
const gatewayPath = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

/** The calls of an agent. Routes of their own, so that a policy can name them; everything else is a person's. */
export const AGENT_ROUTES = ROUTE_NAMES.map((name): Route => ROUTES[name])
  .filter(isAgents)
  .map(({ method, path }) => ({ method: HttpMethod[method], path: gatewayPath(path) }));

/** What a person may call who acts, and one who only looks may not although it is a GET. */
export const ACTING_GETS = ROUTE_NAMES.map((name): Route => ROUTES[name])
  .filter(({ method, who }) => method === 'GET' && who === 'operator')
  .map(({ path }) => gatewayPath(path));

/**
 * What is kept of each request: enough to answer who did what, nothing of the body. A fleet at rest writes one line for
 * each report, and CloudWatch takes money by the byte: short names, and nothing twice (docs/cost.md).
 */
export const ACCESS_LOG = {
  at: '$context.requestTimeEpoch',
  id: '$context.requestId',
  call: '$context.httpMethod $context.path',
  status: '$context.status',
  ms: '$context.responseLatency',
  from: '$context.identity.sourceIp',
  by: '$context.identity.userArn',
  error: '$context.error.message$context.integrationErrorMessage',
} as const;

/**
 * A report computes for a few milliseconds and waits for the table for as many: the wait is paid by the memory, so that less
 * of it is cheaper (docs/cost.md has the arithmetic).
 */
export const API_MEMORY_MIB = 512;

/** The public endpoint: every route signed with IAM, throttled and logged. */
export class Api extends Construct {
  readonly api: HttpApi;
  readonly stage: HttpStage;
  readonly handler: HandlerFunction;
  /** What agents and the CLI call. */
  readonly endpoint: string;

  constructor(scope: Construct, id: string, defaults: HandlerDefaults) {
    super(scope, id);
    const { settings } = defaults;
    this.handler = new HandlerFunction(this, 'Handler', {
      ...defaults,
      handler: 'api',
      description: 'Reports of agents and requests of operators',
      timeout: Duration.seconds(15),
      memoryMiB: API_MEMORY_MIB,
    });
    this.api = new HttpApi(this, 'Http', {
      apiName: settings.prefix,
      description: 'Holdoff: reports of agents and requests of operators, signed with IAM',
      createDefaultStage: false,
      // One name for one endpoint: with a domain of the user's, API Gateway's own is closed.
      disableExecuteApiEndpoint: settings.domain !== undefined,
      defaultAuthorizer: new HttpIamAuthorizer(),
    });
    const integration = new HttpLambdaIntegration('Handler', this.handler.function);
    const agentRoutes = AGENT_ROUTES.flatMap(({ method, path }) =>
      this.api.addRoutes({ methods: [method], path, integration }),
    );
    this.api.addRoutes({ methods: [HttpMethod.ANY], path: '/v1/{proxy+}', integration });

    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/vendedlogs/${settings.prefix}-api`,
      retention: settings.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const domain = settings.domain === undefined ? undefined : this.addDomain(settings.domain);
    this.endpoint = settings.domain === undefined ? this.api.apiEndpoint : `https://${settings.domain.name}`;
    this.stage = new HttpStage(this, 'Stage', {
      ...(domain === undefined ? {} : { domainMapping: { domainName: domain } }),
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: settings.peopleRequestsPerSecond, burstLimit: settings.peopleRequestsPerSecond * 2 },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    this.throttleAgents(agentRoutes, settings.apiRequestsPerSecond);
    Validations.of(this.stage).acknowledge({
      id: 'Serverless-APIGWXrayEnabled',
      reason: 'HTTP APIs have no X-Ray tracing.',
    });
  }

  /** A throttle of its own for each call of agents: people do not wait behind a fleet that storms, nor it behind them. */
  private throttleAgents(routes: readonly HttpRoute[], rate: number): void {
    const stage = this.stage.node.defaultChild;
    if (!(stage instanceof CfnStage)) throw new TypeError('an HTTP stage is made of a CfnStage');
    const throttle = { ThrottlingRateLimit: rate, ThrottlingBurstLimit: rate * 2 };
    stage.routeSettings = Object.fromEntries(AGENT_ROUTES.map(({ method, path }) => [`${method} ${path}`, throttle]));
    // API Gateway refuses the settings of a route that is not there yet.
    this.stage.node.addDependency(...routes);
  }

  private addDomain({ name, certificateArn, hostedZoneId }: Domain): DomainName {
    const domain = new DomainName(this, 'Domain', {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    });
    if (hostedZoneId !== undefined) {
      new CfnRecordSet(this, 'Alias', {
        hostedZoneId,
        name,
        type: 'A',
        aliasTarget: { dnsName: domain.regionalDomainName, hostedZoneId: domain.regionalHostedZoneId },
      });
    }
    new CfnOutput(this, 'DomainTarget', {
      value: domain.regionalDomainName,
      description: `What the name ${name} must lead to, where no hosted zone was given`,
    });
    return domain;
  }
}
