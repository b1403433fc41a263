/** What the account's answers mean: alarms, dead letters, documents, schedules and quotas of one deployment. */
import { isDeepStrictEqual } from 'node:util';
import { WAKE_DOCUMENT } from '../../core/contract/wake-document.ts';
import { counted } from '../../present/text.ts';
import type { Account } from './account.ts';
import { type Check, fail, type Finding, ok, unchecked, warn } from './finding.ts';

/** Alarms that tell of nodes and VMs, not of the machinery: `holdoff summary` names who it is. */
const OF_THE_FLEET: readonly string[] = [
  'node-crashes',
  'vm-failures',
  'vms-in-crash-loop',
  'nodes-backing-off',
  'gave-up',
  'nodes-blocked',
  'breakers-open',
  'nodes-unreachable',
  'nodes-silent',
];
const DEAD_LETTERS = ['timers', 'commands', 'events'] as const;
/** Below this a herd of reports, the timers and the sweep wait for each other; a new account begins with 10. */
const CONCURRENCY_LOW = 100;
const CONCURRENCY_MIN = 20;

const runbook = (alarm: string): string => `docs/runbooks/${alarm}.md`;
const elsewhere = (prefix: string): string =>
  `say its prefix with --prefix NAME if it is not ${prefix}, and use credentials of the account that it is deployed in`;

/** All that the account can tell; each question by itself, so that one that is refused hides no other. */
export const checkDeployment = (account: Account, prefix: string): Promise<Finding[]> =>
  Promise.all([
    asked('schedules', 'scheduler:GetScheduleGroup', () => scheduleGroup(account, prefix)),
    asked('alarms', 'cloudwatch:DescribeAlarms', () => alarms(account, prefix)),
    asked('dead letters', 'sqs:GetQueueUrl and sqs:GetQueueAttributes', () => deadLetters(account, prefix)),
    asked('documents', 'ssm:GetDocument', () => documents(account, prefix)),
    asked('quotas', 'lambda:GetAccountSettings', () => quotas(account)),
  ]);

async function asked(check: Check, permission: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    const [name, message] = error instanceof Error ? [error.name, error.message] : ['', String(error)];
    return /AccessDenied|NotAuthorized|UnauthorizedOperation/.test(name)
      ? unchecked(check, 'these credentials may not ask AWS for it', `grant ${permission}, or ask somebody who has it`)
      : unchecked(
          check,
          `AWS could not be asked: ${name === 'Error' ? '' : `${name}: `}${message}`,
          `check the way to AWS and the credentials; it takes ${permission}`,
        );
  }
}

async function scheduleGroup(account: Account, prefix: string): Promise<Finding> {
  const state = await account.scheduleGroup(prefix);
  if (state === null)
    return unchecked('schedules', `this account has no group of schedules ${prefix}`, elsewhere(prefix));
  if (state === 'ACTIVE') return ok('schedules', `the group of schedules ${prefix} is there`);
  return fail(
    'schedules',
    `the group of schedules ${prefix} is ${state}: Scheduler takes no new timer`,
    'deploy the stack again, which makes the group; until then the sweep stands in',
  );
}

async function alarms(account: Account, prefix: string): Promise<Finding> {
  const seen = await account.alarms(`${prefix}-`);
  if (seen.length === 0) return unchecked('alarms', `this account has no alarm ${prefix}-…`, elsewhere(prefix));
  const ringing = seen.filter(({ state }) => state === 'ALARM').map(({ name }) => name.slice(prefix.length + 1));
  const own = ringing.filter((name) => !OF_THE_FLEET.includes(name));
  const rings = ringing.length === 1 ? 'rings' : 'ring';
  const says = `${ringing.length} of ${counted(seen.length, 'alarm', 'alarms')} ${rings}: ${ringing.join(', ')}`;
  const [first] = own;
  if (first !== undefined) return fail('alarms', says, `see ${own.map(runbook).join(', ')}`);
  if (ringing.length > 0) {
    return warn('alarms', says, `see whom: holdoff summary; then ${ringing.map(runbook).join(', ')}`);
  }
  return ok('alarms', `none of ${seen.length} rings`);
}

async function deadLetters(account: Account, prefix: string): Promise<Finding> {
  const queues = await Promise.all(
    DEAD_LETTERS.map(async (of) => ({ of, depth: await account.depth(`${prefix}-${of}-dead`) })),
  );
  const missing = queues.filter(({ depth }) => depth === null);
  if (missing.length > 0) {
    const names = missing.map(({ of }) => `${prefix}-${of}-dead`).join(', ');
    return unchecked('dead letters', `this account has no queue ${names}`, elsewhere(prefix));
  }
  const full = queues.filter(({ depth }) => depth !== null && depth > 0);
  if (full.length === 0) return ok('dead letters', `none in ${queues.length} queues`);
  return fail(
    'dead letters',
    full.map(({ of, depth }) => `${depth} in ${prefix}-${of}-dead`).join(', '),
    `see what they are with \`holdoff dead-letters\`, and repair the cause: ${full.map(({ of }) => runbook(`${of}-dead-letters`)).join(', ')}`,
  );
}

async function documents(account: Account, prefix: string): Promise<Finding> {
  const name = `${prefix}-wake`;
  const found = await account.document(name);
  if (found === null) {
    const isHere = (await account.scheduleGroup(prefix)) !== null;
    return isHere
      ? fail(
          'documents',
          `this account has no document ${name}: nodes are not woken, they only hear at their next report`,
          'deploy the agent stack, which brings it',
        )
      : unchecked('documents', `this account has no document ${name}, nor the rest of ${prefix}`, elsewhere(prefix));
  }
  if (found.status !== 'Active') {
    return fail('documents', `${name} is ${found.status}: SSM does not run it`, 'deploy the agent stack again');
  }
  return isDeepStrictEqual(jsonOr(found.content), WAKE_DOCUMENT)
    ? ok('documents', `${name} is that of this release`)
    : warn(
        'documents',
        `${name} is not that of this release: of another one, or changed by hand`,
        'deploy the agent stack of the release of the control plane; use the holdoff program of that release',
      );
}

/** Text that is not JSON is a document like any other that is not ours. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function quotas(account: Account): Promise<Finding> {
  const { account: limit, unreserved } = await account.concurrency();
  const says = `Lambda may run ${unreserved} at once${unreserved === limit ? '' : `, of ${limit} of the account`}`;
  const remedy =
    'ask for more: Service Quotas, AWS Lambda, "Concurrent executions" (a new account begins with 10); or free what functions reserve';
  if (unreserved < CONCURRENCY_MIN) return fail('quotas', `${says}: reports and timers are throttled`, remedy);
  if (unreserved < CONCURRENCY_LOW) return warn('quotas', `${says}: a herd of reports will be throttled`, remedy);
  return ok('quotas', says);
}
