import { Lazy, Stack } from 'aws-cdk-lib';
import type { Alarm, IAlarmAction, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Grant, type IGrantable, type IRole } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { ENV, type MetricName } from '../core/contract/names.ts';
import { Alarms } from './alarms.ts';
import { Api } from './api.ts';
import { Callers } from './callers.ts';
import { Commands, wakeDocumentOf } from './commands.ts';
import { Dashboard } from './dashboard.ts';
import { Events } from './events.ts';
import type { HandlerDefaults, HandlerFunction } from './function.ts';
import { namespaceOf, own } from './metrics.ts';
import { RunbookPages } from './runbook-pages.ts';
import { PREBUILT, PROJECT_ROOT, type Settings, settingsWith } from './settings.ts';
import { Sweep } from './sweep.ts';
import { Table } from './table.ts';
import { Timers } from './timers.ts';
import type { Watched } from './watched.ts';

/** Every setting of docs/settings.md may be given; none has to be. Two in one account need two `prefix`es. */
export interface HoldoffControlPlaneProps extends Partial<Omit<Settings, 'tags'>> {
  /** The project whose `functions/` are bundled. Default: what this package brings, bundled already. */
  readonly root?: string;
}

/**
 * Everything that decides: the table, the API, timers, commands, events, the sweep, and what watches them. A construct,
 * so that it can stand in a stack of yours; nodes need `HoldoffAgents` beside it.
 */
export class HoldoffControlPlane extends Construct implements Watched {
  readonly settings: Settings;
  readonly table: Table;
  readonly api: Api;
  readonly timers: Timers;
  readonly commands: Commands;
  readonly events: Events;
  readonly sweep: Sweep;
  readonly callers: Callers;
  private readonly alarmed: Alarms;
  private readonly nodeRoleNames: string[];

  /** @throws {SettingsError} naming the setting that cannot be used */
  constructor(scope: Construct, id: string, props: HoldoffControlPlaneProps = {}) {
    super(scope, id);
    const { root, ...given } = props;
    this.settings = settingsWith(given);
    const { settings } = this;
    this.nodeRoleNames = [...settings.nodeRoles];
    const prebuilt = root === undefined && PREBUILT !== null ? { prebuilt: PREBUILT } : {};
    const { encryptionKey } = settings;
    const key = encryptionKey === undefined ? null : Key.fromKeyArn(this, 'Key', encryptionKey);
    const defaults: HandlerDefaults = { settings, root: root ?? PROJECT_ROOT, key, ...prebuilt };

    this.table = new Table(this, 'Table', settings, key);
    this.commands = new Commands(this, 'Commands', defaults);
    this.events = new Events(this, 'Events', defaults);
    this.timers = new Timers(this, 'Timers', defaults);
    this.sweep = new Sweep(this, 'Sweep', { ...defaults, failures: this.events.deadLetters.queue });
    this.api = new Api(this, 'Api', defaults);

    const turning = [
      this.api.handler,
      this.timers.handler,
      this.events.status,
      this.events.lifecycle,
      this.sweep.handler,
    ];
    for (const handler of turning) {
      this.table.grantTurns(handler);
      this.timers.grantArm(handler);
      this.commands.grantQueue(handler);
      this.events.grantPut(handler);
    }
    this.table.grantItems(this.commands.handler);
    this.table.grantAppend(this.events.log);
    this.setEnvironment();

    this.callers = new Callers(this, 'Callers', this, settings);
    const pages = settings.runbooks === undefined ? new RunbookPages(this, 'Runbooks', settings) : undefined;
    this.alarmed = new Alarms(this, 'Alarms', this, pages);
    new Dashboard(this, 'Dashboard', this, this.alarmed);
  }

  /** What agents and the CLI call. */
  get endpoint(): string {
    return this.api.endpoint;
  }

  /** The topic that tells people of alarms. */
  get topic(): Alarms['topic'] {
    return this.alarmed.topic;
  }

  /** Every alarm by its name without the prefix, which is the name of its runbook. */
  get alarms(): Readonly<Record<string, Alarm>> {
    return this.alarmed.byName;
  }

  /** Another way to be told, of every alarm, when it rings and when it is over. */
  addAlarmAction(action: IAlarmAction): void {
    for (const alarm of Object.values(this.alarms)) {
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }

  /** One of Holdoff's own metrics, over the whole deployment; per group with `dimensionsMap: { Group }`. */
  metric(name: MetricName, options: { readonly statistic?: string; readonly group?: string } = {}): Metric {
    const { statistic = 'Sum', group } = options;
    const metric = own(this.settings, name, statistic);
    return group === undefined ? metric : metric.with({ dimensionsMap: { Group: group } });
  }

  /**
   * Lets the instances of a role speak as nodes. Its trust policy must name only EC2 and SSM: whoever else could assume
   * it would choose the session name, which is a node's identity. In this stack, or known by name (`nodeRoles`).
   */
  grantAgent(role: IRole): void {
    this.callers.attachAgent(role);
    this.nodeRoleNames.push(role.roleName);
  }

  /** Lets the instances of roles speak as nodes whose policy somebody else attaches, by name. */
  allowNodeRoles(names: readonly string[]): void {
    this.nodeRoleNames.push(...names);
  }

  /** Everything an operator of Holdoff may do, dead letters included. */
  grantOperate(grantee: IGrantable): Grant {
    return this.callers.grant(grantee, 'operator');
  }

  /** Looking, and nothing else. */
  grantView(grantee: IGrantable): Grant {
    return this.callers.grant(grantee, 'viewer');
  }

  get handlers(): readonly HandlerFunction[] {
    return [
      this.api.handler,
      this.timers.handler,
      this.sweep.handler,
      this.commands.handler,
      this.events.status,
      this.events.lifecycle,
      this.events.log,
    ];
  }

  /** The one place that says what the handlers are told; `functions/env.ts` is its counterpart. */
  private setEnvironment(): void {
    const { settings } = this;
    const values: Record<keyof typeof ENV, string> = {
      table: this.table.table.tableName,
      scheduleGroup: this.timers.group.scheduleGroupName,
      schedulerRoleArn: this.timers.schedulerRole.roleArn,
      timerTargetArn: this.timers.targetArn,
      timerDeadLetterArn: this.timers.deadLetters.queue.queueArn,
      vernierQueueUrl: this.timers.vernier.queue.queueUrl,
      commandQueueUrl: this.commands.queue.queue.queueUrl,
      wakeDocument: wakeDocumentOf(settings),
      eventBus: this.events.bus.eventBusName,
      accountId: Stack.of(this).account,
      // Roles are still granted while the app is built.
      nodeRoles: Lazy.string({ produce: () => this.nodeRoleNames.join(',') }),
      idleReportSeconds: String(settings.idleReportSeconds),
      activeReportSeconds: String(settings.activeReportSeconds),
      metricNamespace: namespaceOf(settings),
    };
    for (const handler of this.handlers) {
      for (const [key, value] of Object.entries(values)) {
        // Object.entries widens the keys of a record; these are the keys of ENV.
        handler.function.addEnvironment(ENV[key as keyof typeof ENV], value);
      }
      // A name of the SDK's own: every client of SSM reads it, and no code of ours.
      if (settings.ssmEndpoint !== undefined) {
        handler.function.addEnvironment('AWS_ENDPOINT_URL_SSM', settings.ssmEndpoint);
      }
    }
  }
}
