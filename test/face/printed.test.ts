import { describe, expect, it } from 'vitest';
import { EXIT } from '../../cli/errors.ts';
import { problem, type Responder } from './api-double.ts';
import { crashedNode, event, group, idleNode, loopingVm, NODE_A, NODE_B, runningVm, summary } from './fleet.ts';
import { holdoff, items, ok } from './holdoff.ts';

describe('what is printed', () => {
  const fleet: Responder = () => items(idleNode(), crashedNode());

  it('on a terminal: a coloured table, what needs attention first', async () => {
    const { out } = await holdoff('nodes', fleet, { isTty: true });
    expect(out).toContain('\u001b[');
    expect(out).toContain('retry in 12 s');
    expect(out.indexOf(NODE_B)).toBeLessThan(out.indexOf(NODE_A));
  });

  it.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('on a terminal with %j: the table without colours', async (env) => {
    const { out } = await holdoff('nodes', fleet, { isTty: true, env });
    expect(out).not.toContain('\u001b');
    expect(out).toContain('NODE ');
  });

  it("in a pipe: tab-separated rows in the API's order, without colours", async () => {
    const { out } = await holdoff('nodes', fleet);
    expect(out).not.toContain('\u001b');
    expect(out.split('\n').map((row) => row.split('\t')[0])).toEqual([NODE_A, NODE_B, '']);
    expect(out).toContain('\t2026-01-05T00:10:12.000Z\t');
  });

  it("with --json: the API's answer, on a terminal too", async () => {
    const { out } = await holdoff('vms show web --json', () => ok(loopingVm()), { isTty: true });
    expect(JSON.parse(out)).toEqual({ api: '1.0', ...loopingVm() });
  });

  describe('of a list from which something is missing because it cannot be read', () => {
    const why = 'node item has format 9; this version reads 0 to 2: deploy the version that wrote it';
    const missing: Responder = () => ok({ api: '1.0', items: [idleNode()], unreadable: [{ id: NODE_B, why }] });
    const told = `node ${NODE_B} cannot be read and is left out: ${why}. Nothing is done with it until it can.\n`;

    it('the list, and beside it what is missing and why', async () => {
      const ran = await holdoff('nodes', missing);
      expect(ran).toMatchObject({ code: EXIT.ok, err: told });
      expect(ran.out).toContain(NODE_A);
    });

    it('with --json in it, too', async () => {
      const { out } = await holdoff('nodes --json', missing);
      expect(JSON.parse(out)).toMatchObject({ items: [{ nodeId: NODE_A }], unreadable: [{ id: NODE_B, why }] });
    });

    it('a verb on all of them does not pass over it silently', async () => {
      const respond: Responder = (request) => (request.method === 'GET' ? missing(request) : ok(idleNode(), 202));
      expect((await holdoff('nodes hold --all --yes', respond)).err).toContain(told);
    });
  });

  it('by a verb: one line with what the control plane says will happen', async () => {
    const stopping = ok(runningVm({ printableStatus: 'Stopping', explanation: 'Its guest has 30 s to end.' }), 202);
    const onTerminal = await holdoff('vms stop db', () => stopping, { isTty: true, env: { NO_COLOR: '1' } });
    expect(onTerminal.out).toBe('stop accepted: db is Stopping. Its guest has 30 s to end.\n');
    expect((await holdoff('vms stop db', () => stopping)).out).toBe('db\tStopping\tIts guest has 30 s to end.\n');
  });

  it('by show: the explanation, every field, the console without its escape sequences, the events', async () => {
    const respond: Responder = ({ path }) => (path.includes('events') ? items(event()) : ok(loopingVm()));
    const { out } = await holdoff('vms show web', respond, { isTty: true, env: { NO_COLOR: '1' } });
    expect(out.startsWith('Explanation      Failed to start twice')).toBe(true);
    expect(out).toContain('\nConsole at the last failure\n  no bootable device\n  halted\n');
    expect(out).toContain('VM Start Delayed');
  });

  it('by show in a pipe: a field a line, then the events', async () => {
    const respond: Responder = ({ path }) => (path.includes('events') ? items(event()) : ok(loopingVm()));
    const rows = (await holdoff('vms show web', respond)).out.split('\n');
    expect(rows[0]).toBe('Explanation\tFailed to start twice; the next start is in 20 s.');
    expect(rows).toContain('Next start\t2026-01-05T00:10:20.000Z');
    expect(rows).toContain('Console\tno bootable device\\nhalted');
    expect(rows.some((row) => row.startsWith('Event\t2026-01-05T00:09:50.000Z\twarning\t'))).toBe(true);
  });

  it('by show when the log cannot be read: the thing itself, then the error', async () => {
    const respond: Responder = ({ path }) =>
      path.includes('events') ? problem(500, 'Internal', 'no log') : ok(loopingVm());
    const ran = await holdoff('vms show web', respond);
    expect(ran.out).toContain('CrashLoopBackOff');
    expect(ran.err).toContain('why: no log');
    expect(ran.code).toBe(EXIT.failed);
  });

  it('by summary of a large fleet: when it was counted, and what one line stands for', async () => {
    const attention = [{ kind: 'vm' as const, id: 'web', count: 200, why: '200 VMs of host i-e, failed: disk full' }];
    const answer = summary({ attention, at: '2026-01-05T00:09:00.000Z' });
    const { out } = await holdoff('summary', () => ok(answer), { isTty: true, env: { NO_COLOR: '1' } });
    expect(out).toContain('web and 199 more');
    expect(out).toContain('Counted by the sweep at 2026-01-05T00:09:00.000Z.');
    const unfinished = await holdoff('summary', () => ok(summary({ partly: true })), {
      isTty: true,
      env: { NO_COLOR: '1' },
    });
    expect(unfinished.out).toContain('There is more than this: the next sweep counts it.');
  });

  it('by summary: what needs attention, then the counts', async () => {
    const { out } = await holdoff('summary', () => ok(summary()), { isTty: true, env: { NO_COLOR: '1' } });
    expect(`\n${out}`).toMatchInlineSnapshot(`
      "
      1 thing needs attention
            WHAT                 WHY
      node  i-0000000000000000b  Crashed 3 times.

      Nodes  3: 2 Idle, 1 BackingOff
      VMs    2: 1 CrashLoopBackOff, 1 Running
      "
    `);
  });

  it('by summary when all is well', async () => {
    const { out } = await holdoff('summary', () => ok(summary({ attention: [] })), {
      isTty: true,
      env: { NO_COLOR: '1' },
    });
    expect(out).toContain('Nothing needs attention.');
  });

  it('by groups show: the policy in words', async () => {
    const { out } = await holdoff('groups show default', () => ok(group({ declared: false })), {
      isTty: true,
      env: { NO_COLOR: '1' },
    });
    expect(`\n${out}`).toMatchInlineSnapshot(`
      "
      Explanation    Nothing to do.
      Group          default
      Declared       no: the policy is that of default
      State          quiet
      Nodes          3
      Limit          1
      Under way      none
      Window         open
      Rollout        not counted yet
      Concurrency    1
      Back-off       preset seed
      Deadlines      Idle 2m, StagedUpdate 12m, PerformedUpdate 5m, RebootedIntoUpdate 15m, MonitoringUpdate 5m
      Soak time      2m
      Health checks  none
      On failure     rollback
      Drain          none
      Refused now    delete: the group default exists from the start and cannot be deleted; put another policy instead
      "
    `);
  });
});
