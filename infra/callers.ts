import { Effect, Grant, type IGrantable, type IManagedPolicy, type IRole } from 'aws-cdk-lib/aws-iam';
import { ManagedPolicy, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import { ACTING_GETS, AGENT_ROUTES } from './api.ts';
import { type Caller, policyName } from './iam-names.ts';
import type { Settings } from './settings.ts';
import type { Watched } from './watched.ts';

const anyId = (path: string): string => path.replaceAll(/\{\w+\}/g, '*');

/** The policy of agents as another stack refers to it: by its name, without an export. */
export const agentPolicyOf = (scope: Construct, settings: Settings): IManagedPolicy =>
  ManagedPolicy.fromManagedPolicyName(scope, 'AgentPolicy', policyName(scope, settings, 'agent'));

/** Reading what is in a queue of dead letters, and taking it away. */
const DEAD_LETTERS = ['sqs:GetQueueUrl', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage', 'sqs:DeleteMessage'];

/**
 * Who may call the API: one policy for agents, one for people who act, one for people who look. None has a description:
 * IAM cannot change one in place, and the policy that replaced it would want the name that is taken.
 */
export class Callers extends Construct {
  private readonly policies: Readonly<Record<Caller, ManagedPolicy>>;
  private readonly watched: Watched;

  constructor(scope: Construct, id: string, watched: Watched, settings: Settings) {
    super(scope, id);
    this.watched = watched;
    const policyOf = (caller: Caller): ManagedPolicy => {
      const statements = this.statementsOf(caller);
      const policy = new ManagedPolicy(this, caller, {
        managedPolicyName: policyName(this, settings, caller),
        statements,
        roles: caller === 'agent' ? settings.nodeRoles.map((name) => Role.fromRoleName(this, name, name)) : [],
      });
      for (const resource of statements.flatMap(({ resources }) => resources).filter((arn) => arn.includes('*'))) {
        acknowledgeWildcard(policy, resource, 'The wildcard stands for ids in the path of this one API.');
      }
      return policy;
    };
    this.policies = { agent: policyOf('agent'), operator: policyOf('operator'), viewer: policyOf('viewer') };
  }

  /** Lets a role call what agents call. */
  attachAgent(role: IRole): void {
    const { agent } = this.policies;
    agent.attachToRole(role);
  }

  /** Gives the statements of a kind of caller to whoever is named, without the managed policy. */
  grant(grantee: IGrantable, caller: 'operator' | 'viewer'): Grant {
    const [allowed, ...others] = this.statementsOf(caller);
    if (allowed === undefined) return Grant.drop(grantee, 'there is nothing to grant');
    for (const statement of others) grantee.grantPrincipal.addToPrincipalPolicy(statement);
    return Grant.addToPrincipal({ grantee, actions: allowed.actions, resourceArns: allowed.resources, scope: this });
  }

  private statementsOf(caller: Caller): PolicyStatement[] {
    const { api: front, timers, commands, events } = this.watched;
    const { encryptionKey } = this.watched.settings;
    const invoke = (effect: Effect, calls: ReadonlyArray<readonly [method: string, path: string]>): PolicyStatement =>
      new PolicyStatement({
        effect,
        actions: ['execute-api:Invoke'],
        resources: calls.map(([method, path]) => front.api.arnForExecuteApi(method, path, front.stage.stageName)),
      });
    switch (caller) {
      case 'agent':
        return [
          invoke(
            Effect.ALLOW,
            AGENT_ROUTES.map(({ method, path }) => [method, anyId(path)] as const),
          ),
        ];
      case 'operator':
        return [
          invoke(Effect.ALLOW, [['*', '/v1/*']]),
          new PolicyStatement({
            actions: DEAD_LETTERS,
            resources: [timers, commands, events].map(({ deadLetters }) => deadLetters.queue.queueArn),
          }),
          ...(encryptionKey === undefined
            ? []
            : [new PolicyStatement({ actions: ['kms:Decrypt', 'kms:GenerateDataKey'], resources: [encryptionKey] })]),
        ];
      case 'viewer': {
        // A wildcard in a path takes slashes too, so that only a denial leaves a GET out.
        const kept = ACTING_GETS.map((path) => ['GET', anyId(path)] as const);
        return [invoke(Effect.ALLOW, [['GET', '/v1/*']]), ...(kept.length > 0 ? [invoke(Effect.DENY, kept)] : [])];
      }
    }
  }
}
