/** Machines that EC2 stops, starts and terminates, and a table that was restored from an older copy. */
import type { Story } from '../story.ts';

const A = 'i-0000000000000000a';
const B = 'i-0000000000000000b';

const vm = (hostId: string) => ({ hostId, runStrategy: 'Always', launch: { type: 'libvirt', domain: 'web' } });

export const MACHINES: readonly Story[] = [
  {
    name: 'EC2 stops one host and terminates another',
    nodes: [
      { nodeId: A, group: 'web', version: '1.1', vms: { web: ['runs', 'runs'] } },
      { nodeId: B, group: 'web', at: 1, version: '1.1' },
    ],
    steps: [
      { at: 5, call: ['PUT', '/v1/vms/web', vm(A)] },
      { at: 100, unplug: A },
      { at: 101, unplug: B },
      { at: 110, machine: [A, 'stopped'] },
      { at: 120, machine: [B, 'terminated'] },
      { at: 200, machine: [A, 'running'] },
    ],
    lasts: 900,
  },
  {
    name: 'a table is recovered after a restore',
    nodes: [{ nodeId: A, group: 'web', version: '1.1' }],
    steps: [{ at: 300, recover: true }],
    lasts: 1500,
  },
];
