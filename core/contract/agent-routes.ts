/** The calls of an agent: apart from the others, so that an agent carries no schema that it never uses. */
import { nodeReportSchema, vmReportSchema } from './agent-bodies.ts';
import type { Route } from './route.ts';

export const AGENT_ROUTES = {
  reportNode: {
    method: 'POST',
    path: '/v1/nodes/:nodeId/reports',
    who: 'node',
    summary: 'A node reports its state and learns what is wanted of it; the first report enrols it',
    body: nodeReportSchema,
    statuses: [200, 409],
  },
  listHostVms: {
    method: 'GET',
    path: '/v1/nodes/:nodeId/vms',
    who: 'node',
    summary: 'What should run on this host',
    statuses: [200],
  },
  reportVm: {
    method: 'POST',
    path: '/v1/vms/:vmId/reports',
    who: 'host',
    summary: 'A host reports an instance and learns whether it is to run',
    body: vmReportSchema,
    statuses: [200, 404],
  },
  getLaunch: {
    method: 'GET',
    path: '/v1/vms/:vmId/launch',
    who: 'host',
    summary: 'The launch definition of an instance; fetching it takes the instance on',
    query: ['instanceId'],
    statuses: [200, 404, 409],
  },
} as const satisfies Readonly<Record<string, Route>>;
