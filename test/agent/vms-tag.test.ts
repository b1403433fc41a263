/** A host asks for the list of its VMs only when an answer says that it is another (DESIGN section 6): real agents. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Listing } from '../../agent/host/listing.ts';
import { alive, bundleAgent, Scene, until } from './scene.ts';

let agent: ReturnType<typeof bundleAgent>;
let scene: Scene;
beforeAll(() => {
  agent = bundleAgent();
});
afterAll(() => agent.remove());
beforeEach(() => {
  scene = new Scene(agent.bundle);
  scene.plane.tags = true;
});
afterEach(() => scene.close());

const living = (name = 'guest.pid') => ({
  type: 'exec' as const,
  command: `echo $$ > ${scene.file(name)}; exec sleep 300`,
});
/** So many more reports have been answered. */
async function reported(times: number): Promise<void> {
  const before = scene.plane.reports.length;
  await until(
    `${times} reports`,
    () => scene.plane.reports.length >= before + times,
    () => scene.log(),
  );
}
/** It has acted on the list: its reports name the tag. */
const settled = (): Promise<void> =>
  until(
    'a report with a tag',
    () => scene.plane.reports.at(-1)?.vmsTag !== undefined,
    () => scene.log(),
  );

describe('a host at rest', () => {
  test('sends its reports and nothing else', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    await scene.phases('web', 'a1 Scheduled', 'a1 Running');
    await settled();
    await reported(2);
    const { lists, vmReports } = scene.plane;
    const told = vmReports.length;
    await reported(4);
    expect(scene.plane.lists).toBe(lists);
    expect(vmReports).toHaveLength(told);
    expect(scene.plane.reports.at(-1)?.instances).toMatchObject([{ vmId: 'web', instanceId: 'a1', phase: 'Running' }]);
  });

  test('takes on what is declared, and ends what is stopped, without a wake', async () => {
    await scene.boot();
    await settled();
    scene.declare({ launch: living() });
    await scene.phases('web', 'a1 Scheduled', 'a1 Running');
    const pid = await scene.pid('guest.pid');
    await settled();
    scene.declare({ launch: living(), power: 'off', graceSeconds: 1 });
    await scene.phases('web', 'a1 Running', 'a1 Succeeded Requested');
    expect(alive(pid)).toBe(false);
  });

  test('goes on naming what the list does not, and ends it once that is answered', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    await scene.phases('web', 'a1 Running');
    await settled();
    scene.plane.vms.delete('web');
    await scene.phases('web', 'a1 Running', 'a1 Succeeded Requested');
  });

  test('of a control plane without tags asks for the list after each report, as before', async () => {
    scene.plane.tags = false;
    scene.declare({ launch: living() });
    await scene.boot();
    await scene.phases('web', 'a1 Running');
    const { lists } = scene.plane;
    await until(
      'three more lists',
      () => scene.plane.lists >= lists + 3,
      () => scene.log(),
    );
    expect(scene.plane.reports.at(-1)).not.toHaveProperty('vmsTag');
  });

  test('asks anew after its agent was killed: what an earlier one knew of the list is gone with it', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    await scene.phases('web', 'a1 Running');
    await settled();
    const { lists } = scene.plane;
    const reports = scene.plane.reports.length;
    scene.machine.killAgent();
    await until(
      'a report of the next agent',
      () => scene.plane.reports.slice(reports).some(({ vmsTag }) => vmsTag === undefined),
      () => scene.log(),
    );
    await until(
      'another list',
      () => scene.plane.lists > lists,
      () => scene.log(),
    );
  });

  test('ends the instance of before, and starts the one that the list names then', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    await scene.phases('web', 'a1 Running');
    await settled();
    scene.declare({ launch: living('second.pid'), instanceId: 'a2' });
    await scene.phases('web', 'a1 Running', 'a1 Succeeded Requested', 'a2 Scheduled', 'a2 Running');
  });
});

describe('the list that was acted on', () => {
  const line = (more: Record<string, unknown> = {}) => ({
    vmId: 'web',
    uid: 'u',
    power: 'on' as const,
    instanceId: 'a1',
    launchRevision: 1,
    ...more,
  });

  test('is known by its tag once what came is what the answer had announced', () => {
    const listing = new Listing();
    expect(listing.answered(null, { tag: 't1', items: [line()] })).toEqual({ kind: 'ask' });
    listing.followed([line()]);
    expect(listing.tag).toBe('t1');
    expect(listing.answered('t1', { tag: 't1', items: null })).toEqual({ kind: 'asBefore', items: [line()] });
  });

  test('that is newer or older than announced has no tag: the next answer announces it again', () => {
    const listing = new Listing();
    listing.answered(null, { tag: 't1', items: [line()] });
    listing.followed([line({ power: 'off' })]);
    expect(listing.tag).toBeNull();
    expect(listing.answered(null, { tag: 't2', items: [line({ power: 'off' })] })).toMatchObject({ kind: 'asBefore' });
    expect(listing.tag).toBe('t2');
  });

  test('came with a wake: an answer that says the same asks for nothing', () => {
    const listing = new Listing();
    listing.followed([line()]);
    expect(listing.answered(null, { tag: 't1', items: [line()] })).toMatchObject({ kind: 'asBefore' });
    expect(listing.tag).toBe('t1');
  });

  test('is asked for when a console is, each time', () => {
    const listing = new Listing();
    listing.followed([line({ consoleAsked: true })]);
    expect(listing.answered(null, { tag: 't1', items: [line({ consoleAsked: true })] })).toEqual({ kind: 'ask' });
  });

  test('is forgotten when a control plane has no tags any more', () => {
    const listing = new Listing();
    listing.answered(null, { tag: 't1', items: [] });
    listing.followed([]);
    expect(listing.answered('t1', null)).toEqual({ kind: 'untagged' });
    expect(listing.tag).toBeNull();
  });
});
