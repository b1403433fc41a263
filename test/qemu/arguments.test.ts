/** Which arguments of QEMU a host runs: a list of escapes and one of usual arguments, on a real QEMU below a real agent. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { guestArgs } from '../../local/demo/boot-sector.ts';
import { bundleAgent, Scene, until } from '../agent/scene.ts';
import { placeBait, reaches } from './escape-seen.ts';
import { ESCAPES, REFUSED } from './escapes.ts';
import { Images, qemu } from './fixtures.ts';

const images = new Images();
const outside = mkdtempSync(join(tmpdir(), 'holdoff-outside-'));
let agent: ReturnType<typeof bundleAgent>;
let scene: Scene;
beforeAll(() => {
  if (qemu === null) return;
  agent = bundleAgent();
  ESCAPES.forEach(({ how }, index) => placeBait(bait[index] ?? '', how));
});
afterAll(() => {
  if (qemu !== null) agent.remove();
  images.remove();
  rmSync(outside, { recursive: true, force: true });
});
beforeEach(() => {
  scene = new Scene(qemu === null ? '' : agent.bundle);
});
afterEach(() => scene.close());

const bait = ESCAPES.map((_escape, index) => join(outside, `bait-${index}`));
/** Declares a VM for each list of arguments; answers their ids. */
function declareAll(lists: readonly (readonly string[])[]): string[] {
  return lists.map((args, index) => {
    const [vmId, instanceId] = [`vm-${index}`, `i-${index}`];
    scene.declare({ vmId, uid: vmId, instanceId, launch: { type: 'qemu', args: [...args] } });
    return vmId;
  });
}

/** Waits until each of these VMs is told to be so; what was told last of the others is in the error. */
async function all(vmIds: readonly string[], phase: string): Promise<void> {
  const missing = (): string[] => vmIds.filter((vmId) => !scene.plane.phases(vmId).join().includes(phase));
  await until(
    `all ${phase}`,
    () => missing().length === 0,
    () => missing().map((vmId) => [vmId, scene.plane.vmReports.filter((report) => report.vmId === vmId).at(-1)]),
  );
}

describe.skipIf(qemu === null)('arguments of QEMU', () => {
  test.concurrent.each(ESCAPES.map((escape, index) => ({ ...escape, file: bait[index] ?? '' })))(
    'would reach a file of the host by $what',
    async ({ file, ...escape }) => {
      expect(await reaches(qemu ?? '', escape, file)).toBe(true);
    },
  );

  test('that would reach the host are refused, each with the reason, and no QEMU is started', async () => {
    const untouched = bait.map((file) => `${file}-again`);
    ESCAPES.forEach(({ how }, index) => placeBait(untouched[index] ?? '', how));
    const vmIds = declareAll([...ESCAPES.map(({ args }, index) => args(untouched[index] ?? '')), ...REFUSED]);
    await scene.boot({ agentEnv: images.agentEnv });
    await all(vmIds, 'Failed LaunchFailed');
    const said = scene.plane.vmReports.filter(({ phase }) => phase === 'Failed').map(({ message }) => message ?? '');
    const reason = /is refused|is not among those this host allows|belongs to no option/;
    expect(said.filter((message) => !reason.test(message))).toEqual([]);
    expect(scene.logLines().filter((line) => line.includes('guest started'))).toEqual([]);
  });

  test('that are usual run a guest', async () => {
    const image = images.image('usual', { says: 'usual has booted', does: 'ignore' });
    const disk = (name: string): string => images.image(name, { says: name, does: 'ignore' });
    const lists = USUAL(disk).map((more) => [...guestArgs(image), ...more.split(' ').filter(Boolean)]);
    const vmIds = declareAll(lists);
    await scene.boot({ agentEnv: images.agentEnv });
    await all(vmIds, 'Running');
  });

  test('of a network of the host run where QEMU may have one; no script is run', async () => {
    const image = images.image('tap', { says: 'tap has booted', does: 'ignore' });
    const tap = '-netdev tap,id=n,ifname=holdoff-t0,script=no,downscript=no -device virtio-net-pci,netdev=n,romfile=';
    declareAll([[...guestArgs(image), ...tap.split(' ')]]);
    await scene.boot({ agentEnv: images.agentEnv });
    // Without the right to make one it is QEMU itself that says so.
    const runsOrNot = /^i-0 Running|tun|permitted/;
    const told = (): string[] =>
      scene.plane.vmReports.map(({ instanceId, phase, message = '' }) => `${instanceId} ${phase} ${message}`);
    await until('it runs, or QEMU says that it may not', () => told().some((line) => runsOrNot.test(line)), told);
    expect(scene.plane.launches).toEqual(['i-0']);
  });
});

/** Each beside the arguments of a guest that boots from a floppy disk. */
const USUAL = (disk: (name: string) => string): readonly string[] => [
  '-netdev user,id=n,hostfwd=tcp:127.0.0.1:0-:22 -device virtio-net-pci,netdev=n,mac=52:54:00:12:34:56,romfile=',
  '-nic user,model=e1000 -no-reboot',
  `-drive file=${disk('virtio')},format=raw,if=virtio,cache=none,aio=threads,discard=unmap,werror=stop,rerror=stop`,
  `-drive file=${disk('cd')},format=raw,if=none,id=x,readonly=on -device ahci,id=s -device ide-cd,drive=x,bus=s.0,bootindex=2`,
  `-blockdev driver=raw,node-name=d,file.driver=file,file.filename=${disk('node')} -device virtio-blk-pci,drive=d,serial=abc`,
  '-smp 2,sockets=1,cores=2,threads=1 -cpu max,-avx -uuid 7c3ad5a6-2f5e-4d4e-9f9c-3d8b0f1d2a3b -name guest=web,debug-threads=on',
  '-rtc base=utc,clock=host,driftfix=slew -boot order=ac,menu=off,strict=on -vga std -no-user-config',
  '-smbios type=1,manufacturer=Example,product=VM,serial=1234 -device ib700 -device virtio-rng-pci,max-bytes=1024,period=1000',
  '-device qemu-xhci,id=usb -device usb-tablet,bus=usb.0 -device virtio-balloon-pci,deflate-on-oom=on -device virtio-scsi-pci',
  '-machine smm=off,vmport=off,usb=off,graphics=off -m size=16M,slots=2,maxmem=64M -device vmgenid',
];
