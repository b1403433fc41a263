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

/** Partition, account, and who it is there. */
const ARN = /^arn:aws(?:-[a-z]+){0,3}:(iam|sts)::(\d{12}):([\w+=,.@/-]{1,512})$/;
/** A role's session has one name: what has more parts is no shape that STS writes. */
const ASSUMED = /^assumed-role\/([^/]+)\/([^/]+)$/;
/** Who signs for himself, as IAM and STS write it; anything else is nobody (DESIGN section 6). */
const PEOPLE = { iam: /^(?:root|user\/(?:[^/]+\/)*[^/]+)$/, sts: /^federated-user\/[^/]+$/ } as const;

/** @param iam the authorizer's block, as API Gateway wrote it; anything else is anonymous */
export function callerOf(iam: unknown, rules: IdentityRules): Caller {
  const userArn = typeof iam === 'object' && iam !== null && 'userArn' in iam ? iam.userArn : undefined;
  if (typeof userArn !== 'string') return { kind: 'anonymous' };
  const [, service, accountId, principal] = ARN.exec(userArn) ?? [];
  if (principal === undefined || accountId !== rules.accountId) return { kind: 'anonymous' };
  const [, role, session] = service === 'sts' ? (ASSUMED.exec(principal) ?? []) : [];
  if (role !== undefined && session !== undefined && rules.nodeRoles.includes(role)) {
    const nodeId = parseNodeId(session);
    return nodeId === null ? { kind: 'unknownNode', userArn } : { kind: 'node', nodeId, role };
  }
  const known = role !== undefined || PEOPLE[service === 'iam' ? 'iam' : 'sts'].test(principal);
  return known ? { kind: 'operator', name: principal } : { kind: 'anonymous' };
}
