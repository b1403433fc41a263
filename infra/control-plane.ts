import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ENV } from '../core/contract/names.ts';
import { Alarms } from './alarms.ts';
import { Api } from './api.ts';
import { Commands, wakeDocumentOf } from './commands.ts';
import { Dashboard } from './dashboard.ts';
import { Events } from './events.ts';
import type { HandlerDefaults, HandlerFunction } from './function.ts';
import { Callers } from './callers.ts';
import { type Settings, VERSION } from './settings.ts';
import { Sweep } from './sweep.ts';
import { Table } from './table.ts';
import { Timers } from './timers.ts';
import type { Watched } from './watched.ts';

export interface ControlPlaneProps extends StackProps, HandlerDefaults {
  /** The roles whose instances may speak as nodes, by name. */
  readonly nodeRoles: readonly string[];
}

/** Everything that decides: the table, the API, timers, commands, events, the sweep, and what watches them. */
export class ControlPlane extends Stack implements Watched {
  readonly table: Table;
  readonly api: Api;
  readonly timers: Timers;
  readonly commands: Commands;
  readonly events: Events;
  readonly sweep: Sweep;
  readonly alarms: Alarms;

  constructor(scope: Construct, id: string, props: ControlPlaneProps) {
    super(scope, id, { description: `Holdoff ${VERSION}: control plane`, ...props });
    const { settings, root } = props;
    const defaults: HandlerDefaults = { settings, root };

    this.table = new Table(this, 'Table', settings);
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
    this.setEnvironment(settings, props.nodeRoles);

    new Callers(this, 'Callers', this.api, settings);
    this.alarms = new Alarms(this, 'Alarms', this, settings);
    new Dashboard(this, 'Dashboard', this, this.alarms, settings);
    new CfnOutput(this, 'Endpoint', { value: this.api.endpoint, description: 'What agents and the CLI call' });
    new CfnOutput(this, 'TableName', { value: this.table.table.tableName });
    const { topicArn } = this.alarms.topic;
    new CfnOutput(this, 'TopicArn', { value: topicArn, description: 'Subscribe here to be told of alarms' });
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
  private setEnvironment(settings: Settings, nodeRoles: readonly string[]): void {
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
      accountId: this.account,
      nodeRoles: nodeRoles.join(','),
      idleReportSeconds: String(settings.idleReportSeconds),
      activeReportSeconds: String(settings.activeReportSeconds),
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
