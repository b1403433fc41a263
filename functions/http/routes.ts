/** The route table: which operation answers which call, and with what status (DESIGN section 6). */
import {
  emptyBodySchema,
  groupBodySchema,
  nodeMoveBodySchema,
  nodeReportSchema,
  stopBodySchema,
  vmBodySchema,
  vmReportSchema,
} from '../../core/contract.ts';
import type * as z from 'zod/mini';
import type { ControlPlane, EventLog } from '../ports.ts';
import * as agents from './agent-routes.ts';
import * as groups from './group-routes.ts';
import * as nodes from './node-routes.ts';
import * as reads from './read-routes.ts';
import type { ApiRequest } from './requests.ts';
import * as vms from './vm-routes.ts';

export type ApiAnswer = { status: number; body: Record<string, unknown> };
export type Serve = (plane: ControlPlane, request: ApiRequest, log: EventLog) => Promise<ApiAnswer>;

export type Route = {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** With `:name` for a parameter, as Hono and the OpenAPI generator read it. */
  path: string;
  who: 'node' | 'operator';
  summary: string;
  body?: z.core.$ZodType;
  query?: readonly string[];
  statuses: readonly number[];
  serve: Serve;
};

export const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/nodes/:nodeId/reports', who: 'node', summary: 'A node reports its state and learns what is wanted of it; the first report enrols it', body: nodeReportSchema, statuses: [200, 409], serve: agents.reportNodeRoute },
  { method: 'GET', path: '/v1/nodes/:nodeId/vms', who: 'node', summary: 'What should run on this host', statuses: [200], serve: agents.hostVmsRoute },
  { method: 'POST', path: '/v1/vms/:vmId/reports', who: 'node', summary: 'A host reports an instance and learns whether it is to run', body: vmReportSchema, statuses: [200, 404], serve: agents.reportVmRoute },
  { method: 'GET', path: '/v1/vms/:vmId/launch', who: 'node', summary: 'The launch definition of an instance; fetching it takes the instance on', query: ['instanceId'], statuses: [200, 404, 409], serve: agents.launchRoute },
  { method: 'GET', path: '/v1/nodes', who: 'operator', summary: 'All nodes', query: ['limit', 'cursor', 'group'], statuses: [200], serve: nodes.listNodes },
  { method: 'GET', path: '/v1/nodes/:nodeId', who: 'operator', summary: 'One node', statuses: [200, 404], serve: nodes.getNode },
  { method: 'GET', path: '/v1/nodes/:nodeId/events', who: 'operator', summary: 'The last 20 events of a node', statuses: [200, 404], serve: nodes.nodeEvents },
  { method: 'DELETE', path: '/v1/nodes/:nodeId', who: 'operator', summary: 'Remove a node, leaving a tombstone', statuses: [202, 404], serve: nodes.deleteNode },
  { method: 'POST', path: '/v1/nodes/:nodeId/retry', who: 'operator', summary: 'Clear the wait, keep the count', body: emptyBodySchema, statuses: [202, 404], serve: nodes.retryNode },
  { method: 'POST', path: '/v1/nodes/:nodeId/hold', who: 'operator', summary: 'Start nothing new, and go on to no disruptive step', body: emptyBodySchema, statuses: [202, 404], serve: nodes.holdNode },
  { method: 'POST', path: '/v1/nodes/:nodeId/release', who: 'operator', summary: 'End a hold', body: emptyBodySchema, statuses: [202, 404], serve: nodes.releaseNode },
  { method: 'POST', path: '/v1/nodes/:nodeId/fence', who: 'operator', summary: 'State that the host is off: its instances have ended', body: emptyBodySchema, statuses: [202, 404], serve: nodes.fenceNode },
  { method: 'POST', path: '/v1/nodes/:nodeId/move', who: 'operator', summary: 'Move a node to another group', body: nodeMoveBodySchema, statuses: [202, 404, 409], serve: nodes.moveNode },
  { method: 'GET', path: '/v1/groups', who: 'operator', summary: 'All groups', query: ['limit', 'cursor'], statuses: [200], serve: groups.listGroups },
  { method: 'GET', path: '/v1/groups/:group', who: 'operator', summary: 'One group', statuses: [200, 404], serve: groups.getGroup },
  { method: 'PUT', path: '/v1/groups/:group', who: 'operator', summary: 'Declare a group or change its policy', body: groupBodySchema, statuses: [200, 201], serve: groups.putGroup },
  { method: 'DELETE', path: '/v1/groups/:group', who: 'operator', summary: "Drop a group's policy: default's holds then", statuses: [202, 404, 409], serve: groups.deleteGroup },
  { method: 'POST', path: '/v1/groups/:group/pause', who: 'operator', summary: 'Start nothing new in the group, and go on to no disruptive step', body: emptyBodySchema, statuses: [202, 404], serve: groups.pauseGroup },
  { method: 'POST', path: '/v1/groups/:group/resume', who: 'operator', summary: 'End a pause', body: emptyBodySchema, statuses: [202, 404], serve: groups.resumeGroup },
  { method: 'GET', path: '/v1/vms', who: 'operator', summary: 'All VMs', query: ['limit', 'cursor', 'host'], statuses: [200], serve: vms.listVms },
  { method: 'GET', path: '/v1/vms/:vmId', who: 'operator', summary: 'One VM', statuses: [200, 404], serve: vms.getVm },
  { method: 'PUT', path: '/v1/vms/:vmId', who: 'operator', summary: 'Declare a VM or change it', body: vmBodySchema, statuses: [200, 201, 409], serve: vms.putVm },
  { method: 'DELETE', path: '/v1/vms/:vmId', who: 'operator', summary: 'Delete a VM once its instance has ended, or at once with force', query: ['force'], statuses: [202, 404], serve: vms.deleteVm },
  { method: 'GET', path: '/v1/vms/:vmId/events', who: 'operator', summary: 'The last 20 events of a VM', statuses: [200, 404], serve: vms.vmEvents },
  { method: 'POST', path: '/v1/vms/:vmId/start', who: 'operator', summary: 'Start now, in back-off too', body: emptyBodySchema, statuses: [202, 404, 409], serve: vms.startVm },
  { method: 'POST', path: '/v1/vms/:vmId/stop', who: 'operator', summary: 'Stop and stay off', body: stopBodySchema, statuses: [202, 404], serve: vms.stopVm },
  { method: 'POST', path: '/v1/vms/:vmId/restart', who: 'operator', summary: 'End the instance and start another', body: emptyBodySchema, statuses: [202, 404, 409], serve: vms.restartVm },
  { method: 'GET', path: '/v1/events', who: 'operator', summary: 'The event log, newest first', query: ['limit', 'cursor'], statuses: [200], serve: reads.readEvents },
  { method: 'GET', path: '/v1/summary', who: 'operator', summary: 'Counts by state, and what needs attention', statuses: [200], serve: reads.summary },
  { method: 'GET', path: '/v1/openapi.json', who: 'operator', summary: 'This API as OpenAPI 3.1', statuses: [200], serve: reads.openapi },
];
