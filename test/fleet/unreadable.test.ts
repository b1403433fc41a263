/** DESIGN section 7: an item that cannot be read is one item. It is skipped, shown and counted; all else goes on. */
import { beforeEach, describe, expect, test } from 'vitest';
import { newGroup } from '../../core/group/record.ts';
import { parseGroupId } from '../../core/kit/ids.ts';
import { at } from '../node/life.ts';
import { LargeFleet, nodeId, oneNode, oneVm, vmId } from './large.ts';

const WEB = parseGroupId('web') ?? expect.fail('a group name');

describe('of three nodes, three VMs and two groups one each cannot be read', () => {
  let fleet: LargeFleet;
  beforeEach(() => {
    fleet = new LargeFleet();
    fleet.put({ ...newGroup(WEB), revision: 1 });
    for (let index = 0; index < 3; index += 1) {
      fleet.put(oneNode(index));
      fleet.put(oneVm(index));
    }
    fleet.breakItem('node', nodeId(1));
    fleet.breakItem('vm', vmId(1));
    fleet.breakItem('group', WEB);
  });

  const why = expect.stringContaining('deploy the version that wrote it');

  test.each([
    ['/v1/nodes', nodeId(1), 2],
    ['/v1/nodes?group=default', nodeId(1), 2],
    ['/v1/vms', vmId(1), 2],
    ['/v1/groups', WEB, 1],
  ])('%s names it beside the others', async (path, id, others) => {
    const { status, body } = await fleet.get(path);
    expect(status).toBe(200);
    expect(body).toMatchObject({ unreadable: [{ id, why }] });
    expect((body as { items: unknown[] }).items).toHaveLength(others);
  });

  test('the summary puts them first', async () => {
    const { body } = await fleet.get('/v1/summary');
    const unreadable = (kind: string, id: string) => ({
      kind,
      id,
      code: 'Unreadable',
      count: 1,
      why: expect.stringContaining('Cannot be read'),
    });
    expect(body).toMatchObject({
      nodes: { total: 2 },
      vms: { total: 2 },
      attention: [unreadable('node', nodeId(1)), unreadable('vm', vmId(1)), unreadable('group', 'web')],
    });
  });

  test('the sweep counts what it meets, and goes through', async () => {
    const report = await fleet.sweep();
    expect(report).toMatchObject({ failed: 1, groups: 1 });
    expect(fleet.metrics).toContainEqual(['SweepFailures', 1]);
    expect(fleet.metrics).toContainEqual(['SweepCompleted', 1]);
    expect(fleet.warnings).toContainEqual(expect.stringContaining('group web cannot be read and is left out'));
  });

  test('one that falls due is handled by no sweep, and the summary of the next count names it', async () => {
    fleet.kernel.now = at(3 * 3600);
    const report = await fleet.sweep();
    expect(report.failed).toBe(2);
    const { body } = await fleet.get('/v1/summary');
    expect(body).toMatchObject({
      attention: expect.arrayContaining([expect.objectContaining({ code: 'Silent', count: 2 })]),
    });
  });

  test('resume, pause and a policy of the other group go on', async () => {
    for (const [method, path, body] of [
      ['POST', '/v1/groups/default/pause', {}],
      ['POST', '/v1/groups/default/resume', {}],
      ['PUT', '/v1/groups/default', { maxConcurrentUpdates: 2 }],
    ] as const)
      expect((await fleet.get(path, method, body)).status).toBeLessThan(300);
  });

  test('recover pauses and restores the others, to its end', async () => {
    let cursor: unknown;
    let done: unknown = false;
    for (let page = 0; page < 9 && done !== true; page += 1) {
      const { status, body } = await fleet.get(
        '/v1/recover',
        'POST',
        cursor === undefined ? { force: true } : { cursor },
      );
      expect(status).toBe(202);
      ({ cursor, done } = body as { cursor?: string; done: boolean });
    }
    expect(done).toBe(true);
  });
});

test('an upgrade whose format is rolled back: what the new release wrote stands still, the rest goes on, and once it is deployed again all is there', async () => {
  const fleet = new LargeFleet();
  fleet.put(oneNode(0));
  fleet.put(oneNode(1));
  // The release to come has written one node before it was rolled back.
  fleet.breakItem('node', nodeId(0));
  expect((await fleet.get('/v1/nodes')).body).toMatchObject({
    items: [{ nodeId: nodeId(1) }],
    unreadable: [{ id: nodeId(0) }],
  });
  const held = await fleet.get(`/v1/nodes/${nodeId(0)}/hold`, 'POST', {});
  expect(held).toMatchObject({
    status: 500,
    body: { code: 'ItemUnreadable', detail: expect.stringContaining('format 99') },
  });
  await fleet.sweep();
  // Deployed again: it reads what it wrote, untouched meanwhile.
  fleet.breakItem('node', nodeId(0), '1');
  expect((await fleet.get('/v1/nodes')).body).toMatchObject({ items: [{ nodeId: nodeId(0) }, { nodeId: nodeId(1) }] });
});
