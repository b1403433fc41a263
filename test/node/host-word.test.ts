/** What the VMs of a node hear of its reports (DESIGN section 3 rules 5 and 6). */
import { describe, expect, test } from 'vitest';
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import { decideNode } from '../../core/node/decide.ts';
import type { NodeRecord } from '../../core/node/record.ts';
import { nodeDueAt } from '../../core/node/timing.ts';
import { there } from '../kit/there.ts';
import { parseNodeId } from '../../core/kit/ids.ts';
import { after, instant, type Instant, seconds } from '../../core/kit/time.ts';

const NODE = parseNodeId('i-0000000000000000a') ?? expect.fail('a node id');
const START = instant(Date.UTC(2026, 0, 5));
const at = (second: number): Instant => after(START, seconds(second));
const report = (more: Partial<NodeReport> = {}): NodeReport => ({
  state: 'Idle',
  bootId: 'boot-1',
  currentVersion: '1.0.0',
  updateCheck: { result: 'UpToDate' },
  ...more,
});

class Host {
  node: NodeRecord | null = null;
  send(second: number, event: Parameters<typeof decideNode>[1]) {
    const outcome = decideNode(this.node, event, { nodeId: NODE, now: at(second), group: null });
    if (outcome.kind === 'changed') this.node = outcome.next;
    const facts = outcome.kind === 'changed' ? outcome.facts : [];
    return { kind: outcome.kind, facts: facts.filter(({ kind }) => kind.startsWith('host')) };
  }
  report(second: number, more: Partial<NodeReport> = {}) {
    return this.send(second, { kind: 'report', report: report(more) });
  }
}
const enrolled = (): Host => {
  const host = new Host();
  host.report(0);
  return host;
};
const leased = { vmId: 'web', instanceId: 'one', phase: 'Running', leaseSeconds: 600, graceSeconds: 30 } as const;

describe('a VM that waits to hear of its host', () => {
  test('is told of the next report, once, though nothing else in it is new', () => {
    const host = enrolled();
    expect(host.send(5, { kind: 'listen' }).kind).toBe('changed');
    expect(host.send(6, { kind: 'listen' }).kind).toBe('unchanged');
    expect(host.report(7).facts).toEqual([{ kind: 'hostReported', hostId: NODE }]);
    expect(host.report(8).kind).toBe('unchanged');
  });

  test('is not told of one that is out of order', () => {
    const host = new Host();
    host.report(0, { uptime: 100, instances: [leased] });
    host.send(5, { kind: 'listen' });
    expect(host.report(7, { uptime: 100 }).kind).toBe('unchanged');
    expect(host.report(8, { uptime: 108 }).facts).toEqual([{ kind: 'hostReported', hostId: NODE }]);
  });
});

describe('another boot', () => {
  test('is told to the VMs with the instant at which it began, and with what it already runs', () => {
    const host = enrolled();
    const { facts } = host.report(100, {
      bootId: 'boot-2',
      uptime: 30,
      instances: [{ ...leased, phase: 'Scheduled' }],
    });
    expect(facts).toEqual([{ kind: 'hostBooted', hostId: NODE, at: at(100), bootedAt: at(70), alive: ['one'] }]);
  });

  test('is told again by the sweep until all VMs have been told, through reports that follow', () => {
    const host = enrolled();
    host.report(100, { bootId: 'boot-2' });
    host.report(120, { bootId: 'boot-2', currentVersion: '1.0.1' });
    expect(host.send(130, { kind: 'due' }).facts).toMatchObject([{ kind: 'hostBooted', bootedAt: at(100) }]);
    host.send(131, { kind: 'told', at: at(100) });
    expect(host.send(140, { kind: 'due' }).facts).toEqual([]);
  });

  test('ends a fence', () => {
    const host = enrolled();
    host.send(10, { kind: 'fence', by: 'ops' });
    host.report(20);
    expect(host.node?.fencedAt).toEqual(at(10));
    host.report(30, { bootId: 'boot-2' });
    expect(host.node?.fencedAt).toBeNull();
  });
});

describe('a host with a lease', () => {
  test('has each of its reports written', () => {
    const host = enrolled();
    host.report(10, { instances: [leased] });
    expect(host.report(20, { instances: [leased] }).kind).toBe('changed');
    expect(host.node?.status?.reportedAt).toEqual(at(20));
  });

  test('is looked at when it was not heard for the shortest lease and grace there, and two minutes', () => {
    const host = enrolled();
    host.report(10, { instances: [leased, { ...leased, vmId: 'db', leaseSeconds: 900 }] });
    const due = at(10 + 630 + 120);
    expect(nodeDueAt(there(host.node))).toEqual(due);
    expect(host.send(759, { kind: 'due' }).facts).toEqual([]);
    expect(host.send(760, { kind: 'due' }).facts).toEqual([{ kind: 'hostUnheard', hostId: NODE, at: due }]);
  });

  test('is looked at also once it was removed: its VMs wait for the end of their lease', () => {
    const host = enrolled();
    host.report(10, { instances: [leased] });
    host.send(20, { kind: 'remove', reason: 'by ops' });
    expect(host.send(760, { kind: 'due' }).facts).toMatchObject([{ kind: 'hostUnheard', hostId: NODE }]);
  });

  test('is as any host again once it says that nothing there is held by a lease', () => {
    const host = enrolled();
    host.report(10, { instances: [leased] });
    host.report(20, { instances: [] });
    expect(host.node?.leaseLookAt).toBeNull();
    expect(host.report(30, { instances: [] }).kind).toBe('unchanged');
  });
});

test('what runs there although it should not is kept until the agent says otherwise', () => {
  const host = enrolled();
  host.report(10, { unexpected: [{ name: 'web', autostart: true }] });
  host.report(20);
  expect(host.node?.unexpected).toEqual([{ name: 'web', autostart: true }]);
  host.report(30, { unexpected: [] });
  expect(host.node?.unexpected).toEqual([]);
});
