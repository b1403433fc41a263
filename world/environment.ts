/** The account of a virtual deployment: its environment, and who calls it. */
import type { Env } from '../functions/env.ts';
import type { IdentityRules } from '../functions/http/identity.ts';
import { QUEUES } from './aws/services.ts';

const ACCOUNT = '000000000000';
const NODE_ROLE = 'HoldoffNode';

export const RULES: IdentityRules = { accountId: ACCOUNT, nodeRoles: [NODE_ROLE] };

export const VIRTUAL_ENV: Env = {
  table: 'holdoff',
  scheduleGroup: 'holdoff',
  schedulerRoleArn: 'role',
  timerTargetArn: 'timer',
  timerDeadLetterArn: 'dead',
  vernierQueueUrl: QUEUES.vernier,
  commandQueueUrl: QUEUES.commands,
  wakeDocument: 'holdoff-wake',
  eventBus: 'holdoff',
  accountId: ACCOUNT,
  nodeRoles: [NODE_ROLE],
  idleReportSeconds: 1200,
  activeReportSeconds: 15,
  metricNamespace: 'Holdoff/virtual',
};

/** The authorizer's block of a caller; null for one that has none. */
export type Identity = { readonly userArn: string } | null;

export const OPERATOR = { userArn: `arn:aws:iam::${ACCOUNT}:user/operator` } as const;
/** Of another account. */
export const STRANGER = { userArn: 'arn:aws:iam::999999999999:user/operator' } as const;
export const nodeIdentity = (nodeId: string): { userArn: string } => ({
  userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/${NODE_ROLE}/${nodeId}`,
});
