/** The control plane whose every external call is a boundary: the deployed adapters, and the store's twin in memory. */
import type { ControlPlane, Store } from '../../../functions/ports.ts';
import { DynamoEventLog } from '../../../functions/aws/event-log.ts';
import { EventBridgeBus } from '../../../functions/aws/bus.ts';
import { AwsTimers } from '../../../functions/aws/timers.ts';
import { SqsWakes } from '../../../functions/aws/wakes.ts';
import { seededDraws } from '../../../world/random.ts';
import type { Instant } from '../../../core/kit/time.ts';
import { external } from './process.ts';
import { bus, dynamodb, QUEUES, scheduler, sqs } from './services.ts';

export const log = new DynamoEventLog(dynamodb, 'table');
const events = new EventBridgeBus(bus, 'bus');
const wakes = new SqsWakes(sqs, QUEUES.commands);
const timers = new AwsTimers(scheduler, sqs, {
  table: 'table',
  scheduleGroup: 'timers',
  schedulerRoleArn: 'role',
  timerTargetArn: 'timer',
  timerDeadLetterArn: 'dead',
  vernierQueueUrl: QUEUES.vernier,
  commandQueueUrl: QUEUES.commands,
  wakeDocument: 'wake',
  eventBus: 'bus',
  accountId: '000000000000',
  nodeRoles: [],
  idleReportSeconds: 900,
  activeReportSeconds: 15,
});

/** One request each in DynamoDB; an index query asks its shards together, which changes nothing that a death could leave half done. */
const store: Store = {
  load: (kind, id) => external(`DynamoDB GetItem (${kind})`, false, (cloud) => cloud.store.load(kind, id)),
  save: (kind, record, revision, writeId) =>
    external(`DynamoDB UpdateItem (${kind})`, true, (cloud) => cloud.store.save(kind, record, revision, writeId)),
  list: (kind, limit, cursor) =>
    external(`DynamoDB Query (list ${kind})`, false, (cloud) => cloud.store.list(kind, limit, cursor)),
  queue: (group, limit) => external('DynamoDB Query (queue)', false, (cloud) => cloud.store.queue(group, limit)),
  underWay: (group) => external('DynamoDB Query (under way)', false, (cloud) => cloud.store.underWay(group)),
  countMembers: (group) => external('DynamoDB Query (members)', false, (cloud) => cloud.store.countMembers(group)),
  overdue: (now, limit) => external('DynamoDB Query (overdue)', false, (cloud) => cloud.store.overdue(now, limit)),
  vmsOfHost: (host) => external('DynamoDB Query (VMs of host)', false, (cloud) => cloud.store.vmsOfHost(host)),
  concerns: () => external('DynamoDB Query (attention)', false, (cloud) => cloud.store.concerns()),
};

export function planeAt(now: () => Instant, seed: number): ControlPlane {
  return {
    store,
    timers,
    wakes,
    bus: events,
    telemetry: { metric: () => undefined, warn: () => undefined },
    now,
    draw: seededDraws(seed),
    pause: () => Promise.resolve(),
    settings: { idleReportSeconds: 900, activeReportSeconds: 15, table: 'holdoff' },
  };
}
