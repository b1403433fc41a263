import { describe, expect, it } from 'vitest';
import { canOfVm } from '../../core/contract/can.ts';
import { EXIT } from '../../cli/errors.ts';
import { problem, type Responder } from './api-double.ts';
import { crashedNode, group, idleNode, NODE_A, NODE_B, runningVm } from './fleet.ts';
import { holdoff, items, ok } from './holdoff.ts';

const gaveUp = crashedNode({ group: 'web', waitingFor: { code: 'GaveUp' } });
const nodes: Responder = ({ method }) =>
  method === 'GET' ? items(idleNode({ group: 'web' }), gaveUp) : ok(gaveUp, 202);
const vm = (vmId: string, more = {}): ReturnType<typeof runningVm> => runningVm({ vmId, ...more });

describe('a verb on many', () => {
  it('is put to each that passes the filter, and to no other', async () => {
    const { api, code, out } = await holdoff('nodes retry --group web --waiting-for GaveUp --yes', nodes);
    expect(code).toBe(EXIT.ok);
    expect(api.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/nodes',
      `POST /v1/nodes/${NODE_B}/retry`,
    ]);
    expect(out).toBe(`${NODE_B}\taccepted\t\n`);
  });

  it('on a terminal shows the list, asks, and tells progress and the sum', async () => {
    const ran = await holdoff('nodes retry --all', nodes, { isTty: true, answer: 'y', env: { NO_COLOR: '1' } });
    expect(ran.err.indexOf(NODE_A)).toBeGreaterThan(-1);
    expect(ran.err.indexOf(NODE_A)).toBeLessThan(ran.err.indexOf('retry 2 nodes? [y/N] '));
    expect(ran.err).toContain('retry: 2 of 2');
    expect(ran.out).toBe('retry accepted: 2 nodes.\n');
  });

  it.each(['', 'n', 'yes please'])('changes nothing when the answer is %j', async (answer) => {
    const ran = await holdoff('nodes retry --all', nodes, { isTty: true, answer });
    expect(ran.code).toBe(EXIT.usage);
    expect(ran.api.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it.each(['groups pause --all', 'groups pause --all --json'])('asks nobody where nobody is: %s', async (line) => {
    const ran = await holdoff(line, () => items(group()));
    expect(ran.code).toBe(EXIT.usage);
    expect(ran.err).toContain('add --yes');
    expect(ran.api.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('goes on past a refusal, says which failed and why, and exits with 1', async () => {
    const respond: Responder = ({ method, path }) => {
      if (method === 'GET') return items(vm('one'), vm('two'), vm('three'));
      return path.includes('two') ? problem(409, 'Conflict', 'not now') : ok(vm('x'), 202);
    };
    const ran = await holdoff('vms stop --all --yes --grace 5s', respond, { isTty: true, env: { NO_COLOR: '1' } });
    expect(ran.code).toBe(EXIT.failed);
    expect(ran.out).toBe('stop accepted: 2 VMs.\nNot done: 1 VM.\n  two: not now\n');
    expect(ran.api.seen.filter(({ method }) => method === 'POST').map(({ body }) => body)).toEqual(
      Array.from({ length: 3 }, () => ({ gracePeriod: '5s' })),
    );
  });

  it('does not send what `can` refuses, and says why in its words', async () => {
    const can = canOfVm({ vmId: 'off', deleting: false, runStrategy: 'Halted', on: false, had: null });
    const ran = await holdoff('vms start --all --yes --json', () => items(vm('off', { can })));
    expect(ran.code).toBe(EXIT.failed);
    expect(ran.api.seen).toHaveLength(1);
    expect(JSON.parse(ran.out)).toEqual({ items: [{ id: 'off', accepted: false, why: can.start?.detail }] });
  });

  it('asks no more of a control plane that cannot be reached', async () => {
    const list = Array.from({ length: 12 }, (_, n) => vm(`vm-${n}`));
    const respond: Responder = ({ method }) =>
      method === 'GET' ? items(...list) : { status: 403, body: { message: 'Forbidden' } };
    const ran = await holdoff('vms stop --all --yes', respond);
    expect(ran.api.seen.length).toBeLessThan(list.length);
    expect(ran.out.split('\n')).toHaveLength(list.length + 1);
    expect(ran.out).toContain('not asked: ');
  });

  it('lets the control plane find the VMs of a host', async () => {
    const { api } = await holdoff(`vms stop --host ${NODE_A} --yes`, ({ method }) =>
      method === 'GET' ? items(vm('db')) : ok(vm('db'), 202),
    );
    expect(api.seen[0]?.path).toBe(`/v1/vms?host=${NODE_A}`);
  });

  it('of nothing is no failure', async () => {
    expect((await holdoff('vms stop --status Unknown --yes', () => items(vm('db')))).code).toBe(EXIT.ok);
  });

  it.each(['nodes retry', 'vms stop', 'groups pause', `nodes retry ${NODE_A} --all`, 'vms stop db --status Running'])(
    'is refused where it is not clear which: %s',
    async (line) => {
      const ran = await holdoff(line, () => items());
      expect(ran.code).toBe(EXIT.usage);
      expect(ran.api.seen).toEqual([]);
    },
  );
});
