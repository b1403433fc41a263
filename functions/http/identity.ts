/**
 * Who calls. Identity comes from `requestContext.authorizer.iam` and from nowhere else; an event without it is refused
 * (DESIGN section 6; facts/aws-services.md section 3: the session name of an instance profile is set by EC2).
 */
import { type NodeId, parseNodeId } from '../../core/kit/ids.ts';

export type Caller =
  | { kind: 'node'; nodeId: NodeId; role: string }
  | { kind: 'operator'; name: string }
  /** On a node role but not recognisable as one node: may do nothing. */
  | { kind: 'unknownNode'; userArn: string }
  | { kind: 'anonymous' };

export type IdentityRules = { accountId: string; nodeRoles: readonly string[] };

const ASSUMED = /^arn:aws[\w-]*:sts::(\d{12}):assumed-role\/([^/]+)\/(.+)$/;
const PRINCIPAL = /^arn:aws[\w-]*:(?:iam|sts)::(\d{12}):(.+)$/;

/** @param iam the authorizer's block, as API Gateway wrote it; anything else is anonymous */
export function callerOf(iam: unknown, rules: IdentityRules): Caller {
  const userArn = typeof iam === 'object' && iam !== null && 'userArn' in iam ? iam.userArn : undefined;
  if (typeof userArn !== 'string') return { kind: 'anonymous' };
  const principal = PRINCIPAL.exec(userArn);
  if (principal === null || principal[1] !== rules.accountId) return { kind: 'anonymous' };
  const assumed = ASSUMED.exec(userArn);
  const role = assumed?.[2];
  if (role !== undefined && rules.nodeRoles.includes(role)) {
    const nodeId = parseNodeId(assumed?.[3] ?? '');
    return nodeId === null ? { kind: 'unknownNode', userArn } : { kind: 'node', nodeId, role };
  }
  return { kind: 'operator', name: principal[2] ?? userArn };
}
