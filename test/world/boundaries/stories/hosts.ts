/** Hosts of VMs: updated with VMs on them, kept from that by one, and fenced or terminated with VMs that may go elsewhere. */
import type { Story } from '../story.ts';

const A = 'i-0000000000000000a';
const B = 'i-0000000000000000b';
const C = 'i-0000000000000000c';

/** The next attempt comes when every VM has long been told of the end of the one before. */
const LATER = { unit: '10m', from: 'lastCrash', cap: '2h', resetAfter: 'none' };

const put = (id: string, hostId: string, more: object = {}) =>
  [
    'PUT',
    `/v1/vms/${id}`,
    { hostId, runStrategy: 'Always', launch: { type: 'exec', command: 'run' }, ...more },
  ] as const;
const movable = (id: string, hostId: string, ...hosts: string[]) => put(id, hostId, { hosts, restartElsewhere: true });

export const HOSTS: readonly Story[] = [
  {
    name: 'a host is updated: its VM is stopped for it, one in back-off stays so, and both run again',
    nodes: [{ nodeId: A, group: 'web', at: 60, vms: { loops: ['fails'] } }],
    steps: [
      { at: 1, call: put('web', A) },
      { at: 2, call: put('loops', A, { backoff: { base: '30m', factor: 2, cap: '1h', jitter: 0 } }) },
    ],
    lasts: 2600,
  },
  {
    name: 'the reboot of a host fails after its VM was stopped for it',
    nodes: [{ nodeId: A, group: 'web', at: 60, vms: {}, fails: { RebootedIntoUpdate: 1 } }],
    steps: [
      { at: 1, call: ['PUT', '/v1/groups/web', { backoff: LATER }] },
      { at: 2, call: put('web', A, { runStrategy: 'Once' }) },
    ],
    lasts: 2900,
  },
  {
    name: 'VMs keep their host from its reboot until one is stopped and the other no longer blocks',
    nodes: [{ nodeId: A, group: 'web', at: 60, vms: {} }],
    steps: [
      { at: 1, call: put('db', A, { maintenance: 'block' }) },
      { at: 2, call: put('web', A, { maintenance: 'block' }) },
      { at: 300, call: ['POST', '/v1/vms/db/stop', {}] },
      { at: 700, call: put('web', A) },
    ],
    lasts: 1900,
  },
  {
    name: 'a host is fenced, another is terminated: what may goes on elsewhere, also once there is a place',
    nodes: [
      { nodeId: A, version: '1.1', vms: {} },
      { nodeId: B, version: '1.1', at: 1, vms: {} },
      { nodeId: C, version: '1.1', at: 1000, vms: {} },
    ],
    steps: [
      { at: 20, call: movable('web', A, B) },
      { at: 21, call: movable('late', A, C) },
      { at: 22, call: movable('mail', B, A, C) },
      { at: 100, unplug: A },
      { at: 200, call: ['POST', `/v1/nodes/${A}/fence`, {}] },
      { at: 1100, unplug: B },
      { at: 1200, machine: [B, 'terminated'] },
      { at: 1300, plug: A },
    ],
    lasts: 6200,
  },
];
