/** The files of a machine: its disk, the kernel's boot id and uptime, and its entry as a managed instance. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';

const diskSchema = z.object({
  active: z.string(),
  inactive: z.nullable(z.string()),
  nextBootInactive: z.boolean(),
  versionLock: z._default(z.string(), 'latest'),
  boots: z.number(),
});
export type DiskFile = z.infer<typeof diskSchema>;

/** sun_path is 108 bytes on Linux (unix(7)); Node cuts a longer one without a word. */
const SOCKET_PATH_MAX = 100;
const UPTIME_EVERY_MS = 200;

/** Replaces a file so that no reader sees half of it. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

export class MachineFiles {
  readonly dir: string;
  #uptime: NodeJS.Timeout | null = null;

  constructor(dir: string) {
    this.dir = dir;
    mkdirSync(join(dir, 'agent', 'wake'), { recursive: true });
  }

  /** Where the update API listens; a directory whose name is too long for a socket gets one elsewhere. */
  get socket(): string {
    const own = join(this.dir, 'api.sock');
    if (Buffer.byteLength(own) <= SOCKET_PATH_MAX) return own;
    return join(tmpdir(), `holdoff-${createHash('sha256').update(this.dir).digest('hex').slice(0, 16)}.sock`);
  }

  /** Null on a new machine. */
  readDisk(): DiskFile | null {
    let text: string;
    try {
      text = readFileSync(join(this.dir, 'disk.json'), 'utf8');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      return null;
    }
    return diskSchema.parse(JSON.parse(text));
  }

  writeDisk(disk: DiskFile): void {
    replace(join(this.dir, 'disk.json'), `${JSON.stringify(disk)}\n`);
  }

  /** A kernel has come up: its boot id, and an uptime that goes on until it goes down. */
  bootKernel(bootId: string): void {
    const bootedAt = performance.now();
    replace(join(this.dir, 'boot_id'), `${bootId}\n`);
    const tick = (): void => {
      // A second has gone before anybody can read it.
      const uptime = ((performance.now() - bootedAt) / 1000 + 1).toFixed(2);
      replace(join(this.dir, 'uptime'), `${uptime} ${uptime}\n`);
    };
    tick();
    this.#uptime = setInterval(tick, UPTIME_EVERY_MS);
  }

  stopKernel(): void {
    if (this.#uptime !== null) clearInterval(this.#uptime);
  }

  /** What an agent on this machine is told of it. */
  agentEnv(): Record<string, string> {
    return {
      HOLDOFF_AGENT_DIR: join(this.dir, 'agent'),
      HOLDOFF_STATE_DIR: join(this.dir, 'state'),
      // Several hosts are one machine here: each has its guests for itself.
      HOLDOFF_GUESTS_DIR: join(this.dir, 'guests'),
      HOLDOFF_UPDATE_SOCKET: this.socket,
      HOLDOFF_BOOT_ID_FILE: join(this.dir, 'boot_id'),
      HOLDOFF_UPTIME_FILE: join(this.dir, 'uptime'),
    };
  }

  /** Tells SSM's stand-in that this managed instance is there, or is not for the moment. */
  register(managedDir: string, nodeId: string, online: boolean): void {
    mkdirSync(managedDir, { recursive: true });
    const env = { HOLDOFF_AGENT_DIR: join(this.dir, 'agent') };
    replace(join(managedDir, `${nodeId}.json`), `${JSON.stringify({ env, online })}\n`);
  }
}
