/**
 * Names of the shapes in the API's document, so that a client generated from it speaks of `Node`, `Vm` and `Group`
 * (DESIGN section 6). Every body and answer of a route has one; test/contract holds the routes to it.
 */
import * as z from 'zod/mini';
import { groupBodySchema } from '../policy/group-policy.ts';
import { drainStepSchema } from '../policy/drain.ts';
import { healthCheckSchema } from '../policy/monitor.ts';
import {
  desiredNodeSchema,
  desiredVmSchema,
  hostVmSchema,
  hostVmsSchema,
  launchAnswerSchema,
  nodeReportAnswerSchema,
  vmReportAnswerSchema,
} from './agent-answers.ts';
import {
  instanceSeenSchema,
  nodeReportSchema,
  unexpectedSchema,
  updateCheckSchema,
  vmReportSchema,
} from './agent-bodies.ts';
import {
  attentionSchema,
  eventPageSchema,
  eventSchema,
  gatewayAnswerSchema,
  groupAnswerSchema,
  groupPageSchema,
  groupSchema,
  lastEventsSchema,
  nodeAnswerSchema,
  nodePageSchema,
  nodeSchema,
  openapiSchema,
  problemSchema,
  recoverAnswerSchema,
  summarySchema,
  consoleSchema,
  vmAnswerSchema,
  vmPageSchema,
  vmSchema,
} from './answers.ts';
import { groupCanSchema, nodeCanSchema, vmCanSchema, whySchema } from './can.ts';
import {
  closeBreakerBodySchema,
  emptyBodySchema,
  expediteBodySchema,
  launchSchema,
  nodeHoldBodySchema,
  nodeMoveBodySchema,
  openWindowBodySchema,
  recoverBodySchema,
  stopBodySchema,
  vmBodySchema,
} from './operator-bodies.ts';

const NAMED: Readonly<Record<string, z.core.$ZodType>> = {
  Node: nodeSchema,
  NodeAnswer: nodeAnswerSchema,
  NodePage: nodePageSchema,
  Vm: vmSchema,
  VmAnswer: vmAnswerSchema,
  Console: consoleSchema,
  VmPage: vmPageSchema,
  Group: groupSchema,
  GroupAnswer: groupAnswerSchema,
  GroupPage: groupPageSchema,
  NodeCan: nodeCanSchema,
  VmCan: vmCanSchema,
  GroupCan: groupCanSchema,
  Why: whySchema,
  Event: eventSchema,
  EventPage: eventPageSchema,
  LastEvents: lastEventsSchema,
  Attention: attentionSchema,
  Summary: summarySchema,
  Recovery: recoverAnswerSchema,
  OpenapiDocument: openapiSchema,
  Problem: problemSchema,
  GatewayAnswer: gatewayAnswerSchema,
  VmBody: vmBodySchema,
  GroupBody: groupBodySchema,
  Launch: launchSchema,
  StopBody: stopBodySchema,
  MoveBody: nodeMoveBodySchema,
  HoldBody: nodeHoldBodySchema,
  CloseBreakerBody: closeBreakerBodySchema,
  OpenWindowBody: openWindowBodySchema,
  ExpediteBody: expediteBodySchema,
  RecoverBody: recoverBodySchema,
  EmptyBody: emptyBodySchema,
  NodeReport: nodeReportSchema,
  NodeReportAnswer: nodeReportAnswerSchema,
  UpdateCheck: updateCheckSchema,
  InstanceSeen: instanceSeenSchema,
  Unexpected: unexpectedSchema,
  DesiredNode: desiredNodeSchema,
  DrainStep: drainStepSchema,
  HealthCheck: healthCheckSchema,
  HostVm: hostVmSchema,
  HostVms: hostVmsSchema,
  VmReport: vmReportSchema,
  VmReportAnswer: vmReportAnswerSchema,
  DesiredVm: desiredVmSchema,
  LaunchAnswer: launchAnswerSchema,
};

const registry = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });

/** The name of a shape; undefined for one that has none. */
export const nameOf = (schema: z.core.$ZodType): string | undefined => registry.get(schema)?.id;

export const refTo = (name: string): string => `#/components/schemas/${name}`;

/** All named shapes as JSON Schema that refer to each other. As input: answers are open to what a later version adds. */
export function namedSchemas(): Record<string, Record<string, unknown>> {
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: refTo });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $id: _ourPlace, $schema: _dialect, ...schema }]) => [name, schema]),
  );
}
