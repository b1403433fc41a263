import { Effect, type IManagedPolicy, ManagedPolicy, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import { ACTING_GETS, AGENT_ROUTES, type Api } from './api.ts';
import type { Settings } from './settings.ts';

type Caller = 'agent' | 'operator' | 'viewer';

const anyId = (path: string): string => path.replaceAll(/\{\w+\}/g, '*');

const policyName = (settings: Settings, caller: Caller): string => `${settings.prefix}-${caller}`;

/** The policy of agents as another stack refers to it: by its name, without an export. */
export const agentPolicyOf = (scope: Construct, settings: Settings): IManagedPolicy =>
  ManagedPolicy.fromManagedPolicyName(scope, 'AgentPolicy', policyName(settings, 'agent'));

/** Who may call the API: one policy for agents, one for people who act, one for people who look. */
export class Callers extends Construct {
  constructor(scope: Construct, id: string, { api, stage }: Api, settings: Settings) {
    super(scope, id);
    const arn = (method: string, path: string): string => api.arnForExecuteApi(method, path, stage.stageName);

    const policyOf = (
      caller: Caller,
      description: string,
      resources: string[],
      roleNames: readonly string[],
    ): ManagedPolicy => {
      const policy = new ManagedPolicy(this, caller, {
        managedPolicyName: policyName(settings, caller),
        description,
        statements: [new PolicyStatement({ actions: ['execute-api:Invoke'], resources })],
        roles: roleNames.map((name) => Role.fromRoleName(this, name, name)),
      });
      for (const resource of resources) {
        acknowledgeWildcard(policy, resource, 'The wildcard stands for ids in the path of this one API.');
      }
      return policy;
    };

    policyOf(
      'agent',
      'What a Holdoff agent may call: its own four routes. Whose node it speaks for, the API checks.',
      AGENT_ROUTES.map(({ method, path }) => arn(method, anyId(path))),
      settings.nodeRoles,
    );
    policyOf('operator', 'Everything an operator of Holdoff may do', [arn('*', '/v1/*')], []);
    const viewer = policyOf('viewer', 'Looking at nodes, VMs, groups and events of Holdoff', [arn('GET', '/v1/*')], []);
    // A wildcard in a path takes slashes too, so that only a denial leaves a GET out.
    const kept = ACTING_GETS.map((path) => arn('GET', anyId(path)));
    if (kept.length > 0) {
      viewer.addStatements(
        new PolicyStatement({ effect: Effect.DENY, actions: ['execute-api:Invoke'], resources: kept }),
      );
    }
  }
}
