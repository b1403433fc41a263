/** Every name that code and infrastructure must agree on. */

/** The API's version: `1.n`, where a larger n only adds. */
export const API_VERSION = '1.0';

/** Environment variables of the functions, as `infra/` sets them and `functions/env.ts` reads them. */
export const ENV = {
  table: 'HOLDOFF_TABLE',
  scheduleGroup: 'HOLDOFF_SCHEDULE_GROUP',
  schedulerRoleArn: 'HOLDOFF_SCHEDULER_ROLE_ARN',
  timerTargetArn: 'HOLDOFF_TIMER_TARGET_ARN',
  timerDeadLetterArn: 'HOLDOFF_TIMER_DLQ_ARN',
  vernierQueueUrl: 'HOLDOFF_VERNIER_QUEUE_URL',
  commandQueueUrl: 'HOLDOFF_COMMAND_QUEUE_URL',
  wakeDocument: 'HOLDOFF_WAKE_DOCUMENT',
  eventBus: 'HOLDOFF_EVENT_BUS',
  accountId: 'HOLDOFF_ACCOUNT_ID',
  nodeRoles: 'HOLDOFF_NODE_ROLES',
  idleReportSeconds: 'HOLDOFF_IDLE_REPORT_SECONDS',
  activeReportSeconds: 'HOLDOFF_ACTIVE_REPORT_SECONDS',
  metricNamespace: 'HOLDOFF_METRIC_NAMESPACE',
} as const;

/** Of a deployment with this prefix: two in one account never share a metric. */
export const metricNamespace = (prefix: string): string => `Holdoff/${prefix}`;

export const METRICS = [
  'NodeCrash',
  'VmStartFailure',
  'VmUnstableRun',
  'NodesBackingOff',
  'NodesUnreachable',
  'NodesSilent',
  'GaveUp',
  'NodesBlocked',
  'BreakersOpen',
  'VmsInCrashLoop',
  'TimerLatenessMs',
  'SweepCompleted',
  'SweepFailures',
] as const;
export type MetricName = (typeof METRICS)[number];

export const EVENT_SOURCE = 'holdoff';

/** The parameters of the SSM wake document; names follow the agent's `^[a-zA-Z0-9]+$`. */
export const WAKE_PARAMETERS = { wakeId: 'wakeId', generation: 'generation' } as const;

/** What a wake's parameters may be: checked by the document's `allowedPattern`. */
export const WAKE_ID_PATTERN = '^[A-Za-z0-9_-]{1,64}$';
export const GENERATION_PATTERN = '^[0-9]{1,15}$';

/** Lambda entry points: file under `functions/` without its ending; each exports `handler`. */
export const HANDLERS = ['api', 'timer', 'command', 'status', 'lifecycle', 'sweep', 'log'] as const;
export type HandlerName = (typeof HANDLERS)[number];

/** Minutes between sweeps. */
export const SWEEP_MINUTES = 3;
