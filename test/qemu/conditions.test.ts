/**
 * A guest that does not run although its instance is Running (DESIGN section 3 rule 11): told at once, although the next
 * report of its node is due in an hour; continued when the cause is gone; ended when it lasts.
 */
import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InstanceSeen, VmReport } from '../../core/contract/agent-bodies.ts';
import { guestArgs, type GuestStory } from '../../local/demo/boot-sector.ts';
import { bundleAgent, Scene, until } from '../agent/scene.ts';
import { Images, qemu } from './fixtures.ts';

const images = new Images();
const scenes: Scene[] = [];
let agent: ReturnType<typeof bundleAgent>;
beforeAll(() => {
  if (qemu !== null) agent = bundleAgent();
});
afterAll(async () => {
  await Promise.all(scenes.map((scene) => scene.close()));
  if (qemu !== null) agent.remove();
  images.remove();
});

type Boot = {
  does: GuestStory['does'];
  afterTicks?: number;
  more?: readonly string[];
  terms?: object;
  program?: string;
};
let guests = 0;

/** A guest of its own host, whose agent's next report is due in an hour. */
class Guest {
  readonly scene = new Scene(agent.bundle);

  static async boot({ does, afterTicks = 0, more = [], terms = {}, program }: Boot): Promise<Guest> {
    const guest = new Guest();
    const { scene } = guest;
    scenes.push(scene);
    guests += 1;
    const image = images.image(`web-${guests}`, { says: 'web has booted', afterTicks, does });
    scene.plane.reportEverySeconds = 3600;
    scene.declare({ launch: { type: 'qemu', args: [...guestArgs(image), ...more] }, terms: { ...terms } });
    await scene.boot({ agentEnv: { ...images.agentEnv, ...(program === undefined ? {} : { HOLDOFF_QEMU: program }) } });
    await scene.phases('web', 'a1 Running');
    return guest;
  }

  /** The process of its QEMU. */
  get pid(): number {
    return this.scene.pidOf('web@a1', 'guest');
  }

  get phases(): string[] {
    return this.scene.plane.phases('web');
  }

  seen(): InstanceSeen | undefined {
    return this.scene.plane.reports.at(-1)?.instances?.find(({ vmId }) => vmId === 'web');
  }

  last(): VmReport | undefined {
    return this.scene.plane.vmReports.at(-1);
  }

  async ails(condition: string | undefined): Promise<void> {
    await until(
      `condition ${condition ?? 'none'}`,
      () => this.seen() !== undefined && this.seen()?.condition === condition,
      () => ({ seen: this.seen(), log: this.scene.log() }),
    );
  }

  /** QMP has room for one connection: while this one has it, nobody answers the agent. */
  async occupyMonitor(): Promise<Socket> {
    await this.scene.machine.stopAgent();
    const other = await connected(`/proc/${this.pid}/cwd/qmp.sock`);
    this.scene.machine.startAgent();
    return other;
  }
}

describe.skipIf(qemu === null).concurrent('a guest', () => {
  test('whose process is stopped is said to be so at once, and to run again when it goes on', async () => {
    const guest = await Guest.boot({ does: 'ignore' });
    process.kill(guest.pid, 'SIGSTOP');
    await guest.ails('Stopped');
    process.kill(guest.pid, 'SIGCONT');
    await guest.ails(undefined);
    expect(guest.phases).toEqual(['a1 Scheduled', 'a1 Running']);
  });

  test('whose process stays stopped is Unhealthy after unresponsiveFor, and that time is none of Running', async () => {
    const guest = await Guest.boot({ does: 'ignore', terms: { unresponsiveFor: '4s' } });
    process.kill(guest.pid, 'SIGSTOP');
    await guest.ails('Stopped');
    const ran = guest.seen()?.ranSeconds ?? 0;
    await guest.scene.phases('web', 'a1 Running', 'a1 Failed Unhealthy');
    expect(guest.last()?.message).toBe('the process of its hypervisor is stopped, for 4 s now; unresponsiveFor is 4 s');
    expect(guest.last()?.ranSeconds).toBeCloseTo(ran, 1);
  });

  test('whose hypervisor does not answer is said to be so at once, and left alone when it answers again', async () => {
    const guest = await Guest.boot({ does: 'obey' });
    const other = await guest.occupyMonitor();
    await guest.ails('NotResponding');
    other.destroy();
    await guest.ails(undefined);
    expect(guest.phases).toEqual(['a1 Scheduled', 'a1 Running']);
  });

  test('whose hypervisor does not answer is Unhealthy after unresponsiveFor', async () => {
    const guest = await Guest.boot({ does: 'obey', terms: { unresponsiveFor: '3s' } });
    const other = await guest.occupyMonitor();
    await guest.scene.phases('web', 'a1 Running', 'a1 Failed Unhealthy');
    other.destroy();
    expect(guest.last()?.message).toMatch(/its hypervisor does not answer, for \d+ s now; unresponsiveFor is 3 s/);
  });

  test('whose watchdog bites is Unhealthy at once', async () => {
    const guest = await Guest.boot({ does: 'hang', more: ['-device', 'ib700'] });
    await guest.scene.phases('web', 'a1 Running', 'a1 Failed Unhealthy');
    expect(guest.last()?.message).toBe('the guest’s watchdog has fired');
  });

  test('that resets itself runs on, and how often is told as it happens', async () => {
    const guest = await Guest.boot({ does: 'reset', afterTicks: 9 });
    await until('a first reset is told', () => (guest.seen()?.resets ?? 0) >= 1);
    await until('and more of them', () => (guest.seen()?.resets ?? 0) >= 3);
    expect(guest.phases).toEqual(['a1 Scheduled', 'a1 Running']);
  });

  test('that resets itself as often as resetLimit is ended: GuestReset', async () => {
    const guest = await Guest.boot({ does: 'reset', afterTicks: 9, terms: { resetLimit: 2 } });
    await guest.scene.phases('web', 'a1 Running', 'a1 Failed GuestReset');
    expect(guest.last()?.message).toMatch(
      /^the guest has reset itself \d times, 2 of them within 10 min \(resetLimit\)$/,
    );
  });

  test('that resets itself under -no-reboot has ended: GuestReset', async () => {
    const guest = await Guest.boot({ does: 'reset', afterTicks: 9, more: ['-no-reboot'] });
    await guest.scene.phases('web', 'a1 Running', 'a1 Failed GuestReset');
    expect(guest.last()?.message).toContain('-no-reboot');
  });

  test('that sends itself to sleep is left alone, whatever unresponsiveFor is', async () => {
    const guest = await Guest.boot({ does: 'sleep', afterTicks: 9, terms: { unresponsiveFor: '1s' } });
    await guest.ails('Suspended');
    // Another guest, which fails to run for longer, is ended meanwhile.
    const other = images.launch('other', { says: 'other has booted', does: 'ignore' });
    guest.scene.declare({
      vmId: 'other',
      uid: 'u-2',
      instanceId: 'b1',
      launch: other,
      terms: { unresponsiveFor: '2s' },
    });
    guest.scene.wake('other', '0');
    await guest.scene.phases('other', 'b1 Running');
    process.kill(guest.scene.pidOf('other@b1', 'guest'), 'SIGSTOP');
    await guest.scene.phases('other', 'b1 Failed Unhealthy');
    expect(guest.scene.plane.reports.at(-1)?.instances?.find(({ vmId }) => vmId === 'web')).toMatchObject({
      phase: 'Running',
      condition: 'Suspended',
    });
    expect(guest.phases).toEqual(['a1 Scheduled', 'a1 Running']);
  });

  test.each(['tcp', 'http'] as const)(
    'that has answered its %s probe and does so no more is Unhealthy, with what was asked and what came',
    async (how) => {
      let status = 200;
      let hasAnswered = (): void => undefined;
      const answered = new Promise<void>((done) => (hasAnswered = done));
      const service = createServer((_request, response) => response.writeHead(status).end(() => hasAnswered()));
      await new Promise<void>((done) => void service.listen(0, '127.0.0.1', done));
      const { port } = service.address() as AddressInfo;
      const probe = how === 'tcp' ? { tcp: port } : { http: `http://127.0.0.1:${port}/health` };
      // A connection is the answer to a TCP probe; an HTTP one that got none yet would still be booting.
      const asked =
        how === 'tcp' ? new Promise<void>((done) => void service.once('connection', () => done())) : answered;
      const guest = await Guest.boot({ does: 'ignore', terms: { liveness: { ...probe, every: '1s', failures: 2 } } });
      await asked;
      expect(guest.phases).toEqual(['a1 Scheduled', 'a1 Running']);
      status = 503;
      if (how === 'tcp') service.close();
      await guest.scene.phases('web', 'a1 Running', 'a1 Failed Unhealthy');
      expect(guest.last()?.message).toMatch(
        how === 'tcp'
          ? /^liveness probe tcp 127\.0\.0\.1:\d+ has failed 2 times in a row: connect ECONNREFUSED/
          : /^liveness probe http:.*health has failed 2 times in a row: it answers 503$/,
      );
      service.closeAllConnections();
      service.close();
    },
  );

  test('that is paused by a full disk is said to be so at once, goes on when there is room, and loses nothing', async () => {
    const { program, disk } = smallDisk();
    const guest = await Guest.boot({ does: 'write', afterTicks: 18, program, more: disk });
    await guest.ails('IoError');
    execFileSync('prlimit', ['--pid', String(guest.pid), '--fsize=unlimited']);
    await guest.ails(undefined);
    guest.scene.declare({ launch: { type: 'exec', command: 'true' }, power: 'off' });
    guest.scene.wake('stop', '0');
    await guest.scene.phases('web', 'a1 Running', 'a1 Succeeded Requested');
    expect(guest.last()?.console).toContain('written');
  });

  test('that stays paused by a full disk is Unhealthy after unresponsiveFor', async () => {
    const { program, disk } = smallDisk();
    const guest = await Guest.boot({ does: 'write', program, more: disk, terms: { unresponsiveFor: '3s' } });
    await guest.scene.phases('web', 'a1 Running', 'a1 Failed Unhealthy');
    expect(guest.last()?.message).toBe('the guest is paused by an I/O error, for 3 s now; unresponsiveFor is 3 s');
  });
});

function connected(socket: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const client = connect(socket);
    client.once('data', () => resolve(client));
    client.once('error', reject);
  });
}

let disks = 0;
/** A disk that holds 4 KiB: to a QEMU whose files may not grow beyond that, as on a disk that is full. */
function smallDisk(): { program: string; disk: readonly string[] } {
  const program = join(images.dir, 'qemu-of-a-full-disk');
  writeFileSync(program, `#!/bin/sh\ntrap '' XFSZ\nulimit -S -f 8\nexec '${qemu}' "$@"\n`, { mode: 0o755 });
  disks += 1;
  const file = join(images.dir, `disk-${disks}.img`);
  writeFileSync(file, '');
  truncateSync(file, 1 << 20);
  return { program, disk: ['-drive', `file=${file},format=raw,if=ide,werror=stop`, '-boot', 'order=a'] };
}
