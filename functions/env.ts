/** The environment, parsed once into a typed object. */
import { ENV } from '../core/contract/names.ts';
import type { Settings } from './ports.ts';

export type Env = {
  table: string;
  scheduleGroup: string;
  schedulerRoleArn: string;
  timerTargetArn: string;
  timerDeadLetterArn: string;
  vernierQueueUrl: string;
  commandQueueUrl: string;
  wakeDocument: string;
  eventBus: string;
  accountId: string;
  nodeRoles: readonly string[];
  idleReportSeconds: number;
  activeReportSeconds: number;
  metricNamespace: string;
};

/** A function was deployed without something it needs. */
export class ConfigurationError extends Error {
  readonly code = 'Configuration';
}

/** @throws {ConfigurationError} naming the variable that is missing or wrong */
export function readEnv(env: Readonly<Record<string, string | undefined>>): Env {
  const text = (name: string): string => {
    const value = env[name];
    if (value === undefined || value === '') throw new ConfigurationError(`${name} is not set`);
    return value;
  };
  const seconds = (name: string, fallback: number): number => {
    const value = Number(env[name] ?? fallback);
    if (!Number.isFinite(value) || value <= 0)
      throw new ConfigurationError(`${name} must be a number of seconds, not ${env[name] ?? ''}`);
    return value;
  };
  return {
    table: text(ENV.table),
    scheduleGroup: text(ENV.scheduleGroup),
    schedulerRoleArn: text(ENV.schedulerRoleArn),
    timerTargetArn: text(ENV.timerTargetArn),
    timerDeadLetterArn: text(ENV.timerDeadLetterArn),
    vernierQueueUrl: text(ENV.vernierQueueUrl),
    commandQueueUrl: text(ENV.commandQueueUrl),
    wakeDocument: text(ENV.wakeDocument),
    eventBus: text(ENV.eventBus),
    accountId: text(ENV.accountId),
    nodeRoles: text(ENV.nodeRoles)
      .split(',')
      .map((role) => role.trim())
      .filter((role) => role !== ''),
    idleReportSeconds: seconds(ENV.idleReportSeconds, 1200),
    activeReportSeconds: seconds(ENV.activeReportSeconds, 15),
    metricNamespace: text(ENV.metricNamespace),
  };
}

/** What of it the operations themselves go by. */
export const settingsOf = ({ idleReportSeconds, activeReportSeconds, table }: Env): Settings => ({
  idleReportSeconds,
  activeReportSeconds,
  table,
});
