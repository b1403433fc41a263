// @ts-nocheck
import { Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Accepts one wildcard resource in the policies of a construct, and no other: the finding is named by the ARN itself, so
 * that widening the ARN brings the finding back.
 */
export function acknowledgeWildcard(scope: IConstruct, arn: string, reason: string): void {
  const resource = flat(Stack.of(scope).resolve(arn));
  Validations.of(scope).acknowledge({ id: `AwsSolutions-IAM5[Resource::${resource}]`, reason });
}

/** Accepts a policy of AWS's own on a role. */
export function acknowledgeAwsPolicy(scope: IConstruct, policyName: string, reason: string): void {
  const { partition } = Stack.of(scope);
  const arn = flat(Stack.of(scope).resolve(`arn:${partition}:iam::aws:policy/${policyName}`));
  Validations.of(scope).acknowledge({ id: `AwsSolutions-IAM4[Policy::${arn}]`, reason });
}

/** An intrinsic function of CloudFormation as cdk-nag writes it in the name of a finding. */
function flat(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) throw new TypeError(`not part of an ARN: ${JSON.stringify(value)}`);
  if ('Ref' in value) return `<${flat(value.Ref)}>`;
  const join: unknown = 'Fn::Join' in value ? value['Fn::Join'] : undefined;
  if (Array.isArray(join) && Array.isArray(join[1])) return join[1].map(flat).join(flat(join[0]));
  throw new TypeError(`not part of an ARN: ${JSON.stringify(value)}`);
}
