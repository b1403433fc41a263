/** VMs: started, crashed, tried again, stopped, replaced, deleted; and what becomes of them with their host. */
import type { Story } from '../story.ts';

const HOST = 'i-0000000000000000a';
/** Nobody has ever heard of this one. */
const NOWHERE = 'i-0000000000000000f';

const vm = (runStrategy: string, more: object = {}): object => ({
  hostId: HOST,
  runStrategy,
  launch: { type: 'exec', command: 'run' },
  ...more,
});
const put = (id: string, body: object) => ['PUT', `/v1/vms/${id}`, body] as const;
const post = (path: string, body: object = {}) => ['POST', `/v1/vms/${path}`, body] as const;
const host = { nodeId: HOST, version: '1.1' };

export const VMS: readonly Story[] = [
  {
    name: 'a VM fails to start twice, runs, runs only shortly, and runs',
    nodes: [{ ...host, vms: { web: ['fails', 'fails', 'breaks', 'runs'] } }],
    steps: [{ at: 20, call: put('web', vm('Always', { stableFor: '5m' })) }],
    lasts: 900,
  },
  {
    name: 'a VM is stopped while it waits, started, restarted, replaced and deleted',
    nodes: [{ ...host, vms: { web: ['fails'] } }],
    steps: [
      { at: 20, call: put('web', vm('Always', { backoff: { base: '20m', factor: 2, cap: '30m', jitter: 0 } })) },
      { at: 300, call: post('web/console') },
      { at: 310, call: ['GET', '/v1/vms/web/console'] },
      { at: 400, call: post('web/stop') },
      { at: 800, call: post('web/start') },
      { at: 1200, call: post('web/restart') },
      { at: 1600, call: put('web', vm('Manual', { launch: { type: 'exec', command: 'other' } })) },
      { at: 2000, call: post('web/stop', { gracePeriod: '5s' }) },
      { at: 2400, call: post('web/start') },
      { at: 2800, call: ['DELETE', '/v1/vms/web'] },
    ],
    lasts: 3400,
  },
  {
    name: 'a VM hangs at its start; others run once, or are deleted by force and declared again',
    nodes: [{ ...host, vms: { slow: ['hangs', 'runs'], job: ['done'] } }],
    steps: [
      { at: 20, call: put('slow', vm('Always', { startDeadline: '60s' })) },
      { at: 30, call: put('job', vm('Once')) },
      { at: 40, call: put('web', vm('RerunOnFailure')) },
      { at: 300, call: ['DELETE', '/v1/vms/web?force=true'] },
      { at: 1700, call: put('web', vm('Always')) },
    ],
    lasts: 2400,
  },
  {
    name: 'a host falls silent, is fenced and comes back',
    nodes: [{ ...host, vms: {} }],
    steps: [
      { at: 20, call: put('web', vm('Always')) },
      { at: 25, call: put('mail', vm('Always')) },
      // Whatever was lost has been made good by then, by the sweep at the latest.
      { at: 400, unplug: HOST },
      { at: 4500, call: ['POST', `/v1/nodes/${HOST}/fence`, {}] },
      { at: 5000, plug: HOST },
    ],
    lasts: 5600,
  },
  {
    name: 'everything is read; a host is unknown to SSM',
    nodes: [{ ...host, vms: {} }],
    steps: [
      { at: 10, call: put('web', vm('Always')) },
      { at: 11, call: put('lost', vm('Always', { hostId: NOWHERE })) },
      { at: 15, status: [NOWHERE, 'Undeliverable'] },
      ...[
        '/v1/nodes',
        `/v1/nodes/${HOST}`,
        `/v1/nodes/${HOST}/events`,
        '/v1/groups',
        '/v1/groups/default',
        '/v1/vms',
        `/v1/vms?host=${HOST}`,
        '/v1/vms/web',
        '/v1/vms/web/events',
        '/v1/events',
        '/v1/summary',
        '/v1/openapi.json',
      ].map((path, index) => ({ at: 30 + index, call: ['GET', path] as const })),
    ],
    lasts: 400,
  },
];
