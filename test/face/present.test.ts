import { describe, expect, it } from 'vitest';
import type { NodeJson } from '../../core/contract/answers.ts';
import { fieldBlock } from '../../present/fields.ts';
import { nodeFields, nodeRows, nodesByAttention, nodeTable } from '../../present/nodes.ts';
import type { Surface } from '../../present/table.ts';
import { displayWidth, oneLine } from '../../present/text.ts';
import { relativeWhen, sayRetry } from '../../present/when.ts';
import { vmFields, vmRows, vmsByAttention, vmTable } from '../../present/vms.ts';
import { crashedNode, idleNode, loopingVm, NODE_A, NODE_B, NOW, runningVm } from './fleet.ts';

const screen = (width: number, changes: Partial<Surface> = {}): Surface => ({
  width,
  colour: false,
  now: NOW,
  fit: 'wrap',
  ...changes,
});

const failedCheck = (message: string): NodeJson['status'] => ({
  state: 'Idle',
  currentVersion: '1.20.0',
  bootId: 'b',
  reportedAt: '2026-01-05T00:00:00.000Z',
  updateCheck: { result: 'Failed', message },
  agentVersion: null,
});

describe('a table of nodes', () => {
  const nodes = [crashedNode(), idleNode()];

  it('shows on a wide screen every column, and why each node is where it is', () => {
    expect(`\n${nodeTable(nodes, screen(160))}\n`).toMatchInlineSnapshot(`
      "
      NODE                 GROUP    PHASE       STEP  VERSION  CRASHES  NEXT           WHY
      i-0000000000000000b  canary   BackingOff  Idle  1.20.0         3  retry in 12 s  Crashed 3 times, last on the way to PerformedUpdate (ActivateFailed); it is
                                                                                       tried again in 12 s.
      i-0000000000000000a  default  Idle        Idle  1.20.0         0                 Up to date with 1.20.0.
      "
    `);
  });

  it('leaves out on a narrow screen what is needed least, never crashes and retries, and wraps the sentence', () => {
    expect(`\n${nodeTable(nodes, screen(80))}\n`).toMatchInlineSnapshot(`
      "
      NODE                 PHASE       CRASHES  NEXT           WHY
      i-0000000000000000b  BackingOff        3  retry in 12 s  Crashed 3 times, last
                                                               on the way to
                                                               PerformedUpdate
                                                               (ActivateFailed); it is
                                                               tried again in 12 s.
      i-0000000000000000a  Idle              0                 Up to date with 1.20.0.
      "
    `);
  });

  it('keeps one line a node, none longer than the screen, when it is drawn live', () => {
    const lines = nodeTable(nodes, screen(100, { fit: 'cut' })).split('\n');
    expect(lines).toHaveLength(3);
    expect(lines.every((line) => displayWidth(line) <= 100)).toBe(true);
    expect(lines[1]).toContain('retry in 12 s');
    expect(lines[1]).toMatch(/…$/);
  });

  it('colours the phase by its urgency only when colour is wanted', () => {
    expect(nodeTable(nodes, screen(160, { colour: true }))).toContain(
      '\u001b[1m\u001b[31mBackingOff\u001b[39m\u001b[22m',
    );
    expect(nodeTable(nodes, screen(160))).not.toContain('\u001b');
  });

  it('aligns the columns the same with colour as without', () => {
    const coloured = nodeTable(nodes, screen(160, { colour: true }));
    expect(oneLine(coloured.replaceAll('\n', '|')).replaceAll('|', '\n')).toBe(nodeTable(nodes, screen(160)));
  });

  it('says that a retry is due once its instant has passed, and nothing when none is planned', () => {
    expect(sayRetry('2026-01-05T00:09:59.000Z', NOW)).toBe('retry due');
    expect(sayRetry(null, NOW)).toBe('');
  });

  it('shows the way a node is on: from what it reported to what is wanted', () => {
    const node = idleNode({
      spec: { state: 'StagedUpdate', version: '1.21.0', generation: 8, since: '' },
      phase: 'Updating',
    });
    expect(nodeTable([node], screen(160))).toContain('Idle → StagedUpdate  1.20.0 → 1.21.0');
  });

  it('shows a node that never reported', () => {
    expect(nodeTable([idleNode({ status: null })], screen(160))).toContain('not reported → Idle  ?');
  });

  it('still draws a phase of a newer control plane', () => {
    // The cast holds nothing, on purpose: this is what an answer of a newer 1.n may be.
    const node = idleNode({ phase: 'Quarantined' as NodeJson['phase'] });
    expect(nodeTable([node], screen(160, { colour: true }))).toContain('Quarantined');
  });

  it('puts those in trouble first, then the most crashes, then by id', () => {
    const order = nodesByAttention([
      idleNode({ nodeId: 'i-00000001' }),
      idleNode({ nodeId: 'i-00000002', phase: 'Updating' }),
      crashedNode({ nodeId: 'i-00000003' }),
      crashedNode({ nodeId: 'i-00000004', crash: { ...crashedNode().crash, count: 9 } }),
      idleNode({ nodeId: 'i-00000005', phase: 'Unreachable' }),
      idleNode({
        nodeId: 'i-00000006',
        status: failedCheck('no route'),
      }),
    ]);
    expect(order.map((node) => node.nodeId.at(-1))).toEqual(['5', '4', '3', '6', '2', '1']);
  });
});

describe('nodes in a pipe', () => {
  it('are tab-separated rows without titles, with instants in RFC 3339', () => {
    expect(
      nodeRows([crashedNode(), idleNode({ status: null })])
        .split('\n')
        .map((row) => row.split('\t')),
    ).toEqual([
      [
        NODE_B,
        'canary',
        'BackingOff',
        'Idle',
        'Idle',
        '1.20.0',
        '',
        '3',
        '2026-01-05T00:10:12.000Z',
        '2026-01-05T00:09:48.000Z',
        crashedNode().explanation,
      ],
      [NODE_A, 'default', 'Idle', 'Idle', '', '', '', '0', '', '', 'Up to date with 1.20.0.'],
    ]);
  });

  it('keep one row a node whatever a message holds', () => {
    expect(
      nodeRows([idleNode({ explanation: 'a\tb\nc\u001b[2Jd' })])
        .split('\t')
        .at(-1),
    ).toBe('a\\tb\\ncd');
  });
});

describe('a node in full', () => {
  it('says first why it is where it is, then every field', () => {
    expect(
      `\n${fieldBlock(nodeFields(crashedNode({ heldBy: 'arn:aws:iam::1:user/ops' }), relativeWhen(NOW)), screen(90))}\n`,
    ).toMatchInlineSnapshot(`
      "
      Explanation       Crashed 3 times, last on the way to PerformedUpdate (ActivateFailed); it
                        is tried again in 12 s.
      Node              i-0000000000000000b
      Phase             BackingOff
      Group             canary
      Wanted state      Idle
      Wanted since      10 min ago (2026-01-05T00:00:00.000Z)
      Wanted version    none
      Generation        7
      Reported state    Idle
      Reported at       12 s ago (2026-01-05T00:09:48.000Z)
      Running version   1.20.0
      Update check      up to date
      Boot id           boot-1
      Agent version     0.1.0
      Crashes           3
      First crash       5 min ago (2026-01-05T00:05:00.000Z)
      Last crash        20 s ago (2026-01-05T00:09:40.000Z)
      Failed to reach   PerformedUpdate
      Reason            ActivateFailed
      Message           exit status 1
      Retry             in 12 s (2026-01-05T00:10:12.000Z)
      Record cleared    in 23 h 55 min (2026-01-06T00:05:00.000Z)
      Blocked versions  none
      Held by           arn:aws:iam::1:user/ops
      "
    `);
  });

  it('calls a failed update check by its name, never "up to date"', () => {
    const node = idleNode({ status: failedCheck('no route to host') });
    const check = nodeFields(node, relativeWhen(NOW)).find((field) => field.label === 'Update check');
    expect(check).toEqual({ label: 'Update check', text: 'update check failed: no route to host', tone: 'warn' });
  });
});

describe('a table of VMs', () => {
  it('shows status, failures, the next start and why', () => {
    expect(`\n${vmTable([loopingVm(), runningVm()], screen(130))}\n`).toMatchInlineSnapshot(`
      "
      VM   HOST                 STRATEGY  STATUS            FAILURES  NEXT           WHY
      web  i-0000000000000000a  Always    CrashLoopBackOff  2 starts  retry in 20 s  Failed to start twice; the next start is in 20 s.
      db   i-0000000000000000a  Always    Running           0                        Running since 00:00.
      "
    `);
  });

  it('counts failed starts and short runs apart, and names the later retry', () => {
    const vm = loopingVm({ unstableRuns: { count: 1, retryAfter: '2026-01-05T00:10:30.000Z' } });
    const text = vmTable([vm], screen(160));
    expect(text).toContain('2 starts, 1 short run');
    expect(text).toContain('retry in 30 s');
  });

  it('names no retry for a VM that is not waiting for one', () => {
    expect(vmTable([loopingVm({ printableStatus: 'Starting' })], screen(160))).not.toContain('retry');
  });

  it('puts those in trouble first', () => {
    expect(
      vmsByAttention([runningVm(), loopingVm({ vmId: 'a', printableStatus: 'Stopped' }), loopingVm()]).map(
        (vm) => vm.vmId,
      ),
    ).toEqual(['web', 'db', 'a']);
  });

  it('is tab-separated in a pipe', () => {
    expect(vmRows([loopingVm()]).split('\t')).toEqual([
      'web',
      NODE_A,
      'Always',
      'CrashLoopBackOff',
      '2',
      '0',
      '2026-01-05T00:10:20.000Z',
      '',
      '1',
      'Failed to start twice; the next start is in 20 s.',
    ]);
  });
});

describe('a VM in full', () => {
  it('says first why it is where it is, then every field', () => {
    expect(`\n${fieldBlock(vmFields(loopingVm(), relativeWhen(NOW)), screen(90))}\n`).toMatchInlineSnapshot(`
      "
      Explanation      Failed to start twice; the next start is in 20 s.
      VM               web
      Status           CrashLoopBackOff
      Host             i-0000000000000000a
      Other hosts      none
      Host update      stops this VM with grace and starts it again; not counted
      Run strategy     Always
      Power            on (intent 1)
      Declaration      u-1
      Instance         none
      Start failures   2
      Failed instance  web-2
      Start failure    LaunchFailed: exit 1
      Next start       in 20 s (2026-01-05T00:10:20.000Z)
      Short runs       0
      Restarts         1 since it was declared
      Last failure     LaunchFailed: exit 1
      Failed at        10 s ago (2026-01-05T00:09:50.000Z)
      "
    `);
  });

  it('names its instance', () => {
    const texts = vmFields(runningVm(), (at) => at).map((field) => `${field.label}: ${field.text}`);
    expect(texts).toContain('Instance: db-1');
    expect(texts).toContain('Instance phase: Running');
    expect(texts).toContain('Phase since: 2026-01-05T00:00:00.000Z');
  });
});
