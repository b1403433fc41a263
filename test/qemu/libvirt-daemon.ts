/** A libvirt daemon of its own for a test: unprivileged, in a directory that goes with it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootSector, type GuestStory } from '../../local/demo/boot-sector.ts';
import { until } from '../agent/scene.ts';
import { installed } from './fixtures.ts';

/** Debian's `nobody` and `nogroup`: a session daemon does not run as root, and then needs no accounts of libvirt's own. */
const NOBODY = 65_534;

export const libvirtd = installed('libvirtd');
export const virshProgram = installed('virsh');

export class LibvirtDaemon {
  readonly dir = mkdtempSync(join(tmpdir(), 'holdoff-libvirt-'));
  #daemon: ChildProcess | null = null;

  get uri(): string {
    return `qemu+unix:///session?socket=${join(this.dir, 'run/libvirt/libvirt-sock')}`;
  }

  async start(program: string): Promise<void> {
    const root = process.getuid?.() === 0;
    chmodSync(this.dir, 0o755);
    const places = { HOME: 'home', XDG_RUNTIME_DIR: 'run', XDG_CONFIG_HOME: 'config', XDG_CACHE_HOME: 'cache' };
    for (const place of Object.values(places)) mkdirSync(join(this.dir, place), { mode: 0o700 });
    if (root) for (const place of ['', ...Object.values(places)]) chownSync(join(this.dir, place), NOBODY, NOBODY);
    const env = Object.fromEntries(Object.entries(places).map(([name, place]) => [name, join(this.dir, place)]));
    this.#daemon = spawn(program, [], {
      cwd: '/',
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], ...env },
      ...(root ? { uid: NOBODY, gid: NOBODY } : {}),
    });
    await until('the daemon listens', () => existsSync(join(this.dir, 'run/libvirt/libvirt-sock')));
  }

  virsh(...args: string[]): string {
    return execFileSync('virsh', ['-c', this.uri, '-q', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    }).trim();
  }

  /** Defines a domain that boots a guest; null: whose image does not exist. */
  define(name: string, story: GuestStory | null): void {
    const image = join(this.dir, `${name}.img`);
    if (story !== null) writeFileSync(image, bootSector(story));
    const file = join(this.dir, `${name}.xml`);
    writeFileSync(file, domainXml(name, image, this.console(name)));
    this.virsh('define', file);
  }

  console(name: string): string {
    return join(this.dir, 'home', `${name}.log`);
  }

  /** The pid of a domain's QEMU, as libvirt keeps it. */
  pid(name: string): number {
    return Number(readFileSync(join(this.dir, 'run/libvirt/qemu/run', `${name}.pid`), 'utf8'));
  }

  async stop(): Promise<void> {
    if (this.#daemon === null) return;
    for (const name of this.virsh('list', '--name').split('\n').filter(Boolean)) this.virsh('destroy', name);
    const daemon = this.#daemon;
    const gone = new Promise<void>((done) => {
      daemon.once('exit', () => done());
    });
    daemon.kill('SIGTERM');
    await gone;
    rmSync(this.dir, { recursive: true, force: true });
  }
}

const domainXml = (name: string, image: string, console: string): string => `<domain type='qemu'>
  <name>${name}</name><memory unit='MiB'>16</memory><vcpu>1</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type></os><features><acpi/></features>
  <on_crash>preserve</on_crash>
  <devices>
    <disk type='file' device='floppy'><driver name='qemu' type='raw'/><source file='${image}'/><target dev='fda'/><readonly/></disk>
    <serial type='file'><source path='${console}'/></serial>
    <panic model='isa'/><memballoon model='none'/>
  </devices>
</domain>
`;
