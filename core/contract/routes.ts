/**
 * Every call of the API as data (DESIGN section 6). The control plane binds a handler to each and enforces `who` in one
 * place; the client, the infrastructure's policies and the OpenAPI document are made from the same table. A name here is
 * the operation's id in that document.
 */
import type * as z from 'zod/mini';
import { groupBodySchema } from '../policy/group-policy.ts';
import { AGENT_ROUTES } from './agent-routes.ts';
import {
  closeBreakerBodySchema,
  emptyBodySchema,
  expediteBodySchema,
  nodeHoldBodySchema,
  nodeMoveBodySchema,
  openWindowBodySchema,
  recoverBodySchema,
  stopBodySchema,
  vmBodySchema,
} from './operator-bodies.ts';
import type { ParametersOf, Route } from './route.ts';

export const ROUTES = {
  ...AGENT_ROUTES,
  listNodes: {
    method: 'GET',
    path: '/v1/nodes',
    who: 'viewer',
    summary: 'All nodes',
    query: ['limit', 'cursor', 'group'],
    statuses: [200],
  },
  getNode: {
    method: 'GET',
    path: '/v1/nodes/:nodeId',
    who: 'viewer',
    summary: 'One node',
    statuses: [200, 404],
  },
  listNodeEvents: {
    method: 'GET',
    path: '/v1/nodes/:nodeId/events',
    who: 'viewer',
    summary: 'The last 20 events of a node',
    statuses: [200, 404],
  },
  deleteNode: {
    method: 'DELETE',
    path: '/v1/nodes/:nodeId',
    who: 'operator',
    summary: 'Remove a node, leaving a tombstone',
    statuses: [202, 404],
  },
  retryNode: {
    method: 'POST',
    path: '/v1/nodes/:nodeId/retry',
    who: 'operator',
    summary: 'End the waits of its record, keep the count',
    body: emptyBodySchema,
    statuses: [202, 404],
  },
  holdNode: {
    method: 'POST',
    path: '/v1/nodes/:nodeId/hold',
    who: 'operator',
    summary: 'Start nothing new, activate nothing, and go on to no disruptive step',
    body: nodeHoldBodySchema,
    statuses: [202, 404, 409],
  },
  releaseNode: {
    method: 'POST',
    path: '/v1/nodes/:nodeId/release',
    who: 'operator',
    summary: 'End a hold',
    body: emptyBodySchema,
    statuses: [202, 404],
  },
  fenceNode: {
    method: 'POST',
    path: '/v1/nodes/:nodeId/fence',
    who: 'operator',
    summary: 'State that the host is off: its instances have ended',
    body: emptyBodySchema,
    statuses: [202, 404],
  },
  moveNode: {
    method: 'POST',
    path: '/v1/nodes/:nodeId/move',
    who: 'operator',
    summary: 'Move a node to another group',
    body: nodeMoveBodySchema,
    statuses: [202, 404, 409],
  },
  listGroups: {
    method: 'GET',
    path: '/v1/groups',
    who: 'viewer',
    summary: 'All groups',
    query: ['limit', 'cursor'],
    statuses: [200],
  },
  getGroup: {
    method: 'GET',
    path: '/v1/groups/:group',
    who: 'viewer',
    summary: 'One group',
    statuses: [200, 404],
  },
  putGroup: {
    method: 'PUT',
    path: '/v1/groups/:group',
    who: 'operator',
    summary: 'Declare a group or change its policy',
    body: groupBodySchema,
    statuses: [200, 201],
  },
  deleteGroup: {
    method: 'DELETE',
    path: '/v1/groups/:group',
    who: 'operator',
    summary: "Drop a group's policy: default's holds then",
    statuses: [202, 404, 409],
  },
  pauseGroup: {
    method: 'POST',
    path: '/v1/groups/:group/pause',
    who: 'operator',
    summary: 'Start nothing new in the group, and go on to no disruptive step',
    body: emptyBodySchema,
    statuses: [202, 404],
  },
  closeBreaker: {
    method: 'POST',
    path: '/v1/groups/:group/closeBreaker',
    who: 'operator',
    summary: 'Forgive a version, or all, that too many nodes of the group crashed on',
    body: closeBreakerBodySchema,
    statuses: [202, 404, 409],
  },
  openWindow: {
    method: 'POST',
    path: '/v1/groups/:group/openWindow',
    who: 'operator',
    summary: 'Let the group begin now, whatever its windows say; a freeze refuses it',
    body: openWindowBodySchema,
    statuses: [202, 404, 409],
  },
  closeWindow: {
    method: 'POST',
    path: '/v1/groups/:group/closeWindow',
    who: 'operator',
    summary: 'End early a window that a person opened',
    body: emptyBodySchema,
    statuses: [202, 404],
  },
  expedite: {
    method: 'POST',
    path: '/v1/groups/:group/expedite',
    who: 'operator',
    summary: 'Let one version past its age and the groups that come first',
    body: expediteBodySchema,
    statuses: [202, 404, 409],
  },
  resumeGroup: {
    method: 'POST',
    path: '/v1/groups/:group/resume',
    who: 'operator',
    summary: 'End a pause',
    body: emptyBodySchema,
    statuses: [202, 404],
  },
  listVms: {
    method: 'GET',
    path: '/v1/vms',
    who: 'viewer',
    summary: 'All VMs',
    query: ['limit', 'cursor', 'host'],
    statuses: [200],
  },
  getVm: {
    method: 'GET',
    path: '/v1/vms/:vmId',
    who: 'viewer',
    summary: 'One VM',
    statuses: [200, 404],
  },
  putVm: {
    method: 'PUT',
    path: '/v1/vms/:vmId',
    who: 'operator',
    summary: 'Declare a VM or change it',
    body: vmBodySchema,
    statuses: [200, 201, 409],
  },
  deleteVm: {
    method: 'DELETE',
    path: '/v1/vms/:vmId',
    who: 'operator',
    summary: 'Delete a VM once its instance has ended, or at once with force',
    query: ['force'],
    statuses: [202, 404],
  },
  listVmEvents: {
    method: 'GET',
    path: '/v1/vms/:vmId/events',
    who: 'viewer',
    summary: 'The last 20 events of a VM',
    statuses: [200, 404],
  },
  startVm: {
    method: 'POST',
    path: '/v1/vms/:vmId/start',
    who: 'operator',
    summary: 'Start now, in back-off too',
    body: emptyBodySchema,
    statuses: [202, 404, 409],
  },
  stopVm: {
    method: 'POST',
    path: '/v1/vms/:vmId/stop',
    who: 'operator',
    summary: 'Stop and stay off',
    body: stopBodySchema,
    statuses: [202, 404],
  },
  restartVm: {
    method: 'POST',
    path: '/v1/vms/:vmId/restart',
    who: 'operator',
    summary: 'End the instance and start another',
    body: stopBodySchema,
    statuses: [202, 404, 409],
  },
  askConsole: {
    method: 'POST',
    path: '/v1/vms/:vmId/console',
    who: 'operator',
    summary: "Ask the host for the last 16 KiB of a live guest's console",
    body: emptyBodySchema,
    statuses: [202, 404, 409],
  },
  getConsole: {
    method: 'GET',
    path: '/v1/vms/:vmId/console',
    who: 'operator',
    summary: 'The console that was asked for, once it has come; kept for 10 min',
    statuses: [200, 404],
  },
  listEvents: {
    method: 'GET',
    path: '/v1/events',
    who: 'viewer',
    summary: 'The event log, newest first',
    query: ['limit', 'cursor'],
    statuses: [200],
  },
  getSummary: {
    method: 'GET',
    path: '/v1/summary',
    who: 'viewer',
    summary: 'Counts by state, and what needs attention',
    statuses: [200],
  },
  recover: {
    method: 'POST',
    path: '/v1/recover',
    who: 'operator',
    summary: 'After a restore: pause all groups, raise the generations, wait for the hosts; page by page',
    body: recoverBodySchema,
    statuses: [202, 409],
    whileRestored: true,
  },
  getOpenapi: {
    method: 'GET',
    path: '/v1/openapi.json',
    who: 'viewer',
    summary: 'This API as OpenAPI 3.1',
    statuses: [200],
    bare: true,
  },
} as const satisfies Readonly<Record<string, Route>>;

export type Routes = typeof ROUTES;
export type RouteName = keyof Routes;
// Object.keys forgets what it was given: these are the keys of the table above.
export const ROUTE_NAMES = Object.keys(ROUTES) as readonly RouteName[];

/** The ids in the path of a route. */
export type RouteParameters<N extends RouteName> = ParametersOf<Routes[N]['path']>;
/** The body of a route as its schema has read it; undefined where it takes none. */
export type RouteBody<N extends RouteName> = Routes[N] extends { body: infer B extends z.core.$ZodType }
  ? z.output<B>
  : undefined;
/** The 2xx of a route. */
export type RouteSuccess<N extends RouteName> = Extract<Routes[N]['statuses'][number], 200 | 201 | 202>;
