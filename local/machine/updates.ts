/** The update commands of a machine: one at a time, each some time after it was accepted, and the disk they write. */
import { type LiveFaults, offeredVersion } from './faults.ts';
import type { Reply } from './reply.ts';
import {
  afterBoot,
  bootDisk,
  type CommandName,
  type Disk,
  endCommand,
  refusalOf,
  type UpdateStatus,
} from './update-state.ts';

export type UpdatesOptions = {
  readonly disk: Disk;
  readonly faults: LiveFaults;
  /** Called whenever the disk has changed. */
  readonly save: (disk: Disk) => void;
};

export class Updates {
  /** Commands accepted, oldest first; reboots are added by the machine. */
  readonly accepted: string[] = [];
  readonly #faults: LiveFaults;
  readonly #save: (disk: Disk) => void;
  #disk: Disk;
  #status: UpdateStatus | null = null;
  #running: NodeJS.Timeout | null = null;
  /** The version-lock as the update command has it: the settings daemon writes its file some time after a commit. */
  #rendered: string;
  #rendering: NodeJS.Timeout | null = null;

  constructor({ disk, faults, save }: UpdatesOptions) {
    this.#disk = disk;
    this.#rendered = disk.versionLock;
    this.#faults = faults;
    this.#save = save;
  }

  get disk(): Disk {
    return this.#disk;
  }

  /** Null when no update command has run since boot. */
  get status(): UpdateStatus | null {
    return this.#status;
  }

  get running(): boolean {
    return this.#running !== null;
  }

  begin(command: CommandName): Reply {
    const refusal = refusalOf(command, this.#status ?? afterBoot(this.#disk));
    if (refusal !== null) return refusal;
    this.accepted.push(command);
    if (this.#faults.strikes('noProgress')) return { status: 204 };
    const lock = this.#rendered;
    this.#running = setTimeout(() => this.#end(command, lock), (this.#faults.now.commandSeconds ?? 0.2) * 1000);
    return { status: 204 };
  }

  /** Answered at once, and applied later (facts, section 6). */
  lockVersion(versionLock: string): void {
    this.#write({ ...this.#disk, versionLock });
    if (this.#rendering !== null) clearTimeout(this.#rendering);
    const lateMs = (this.#faults.now.settingsSeconds ?? SETTINGS_SECONDS) * 1000;
    this.#rendering = setTimeout(() => {
      this.#rendered = this.#disk.versionLock;
    }, lateMs);
  }

  /** The power goes: a command under way never ends. */
  goDown(): void {
    if (this.#running !== null) clearTimeout(this.#running);
    this.#running = null;
    if (this.#rendering !== null) clearTimeout(this.#rendering);
  }

  /** The set that is marked comes up, unless it does not boot. */
  comeUp(): void {
    this.#disk = bootDisk(this.#disk, this.#disk.nextBootInactive && this.#faults.strikes('bootsBack'));
    this.#status = null;
    this.#rendered = this.#disk.versionLock;
  }

  /** @param lock as the command read it when it began */
  #end(command: CommandName, lock: string): void {
    this.#running = null;
    const faults = this.#faults;
    const fails = faults.strikes(FAILURE_OF[command]);
    const written = command === 'prepare' && !fails ? (faults.now.writesVersion ?? null) : null;
    // The repository has moved on: what prepare finds there is what is offered from then on.
    if (written !== null) faults.change({ offeredVersion: written });
    const ended = endCommand(command, this.#status ?? afterBoot(this.#disk), this.#disk, {
      offered: offeredVersion(faults.now, lock),
      fails,
      written,
      timestamp: nanoTime(),
    });
    this.#status = ended.status;
    this.#write(ended.disk);
  }

  #write(disk: Disk): void {
    this.#disk = disk;
    this.#save(disk);
  }
}

/** Measured on the real settings daemon: a refresh 0.2 s after the commit still sees the old lock. */
const SETTINGS_SECONDS = 0.3;

const FAILURE_OF = {
  refresh: 'failRefresh',
  prepare: 'failPrepare',
  activate: 'failActivate',
  deactivate: 'failDeactivate',
} as const;

let nanos = 0;
/** Nanoseconds, as the node writes them: never twice the same. */
function nanoTime(): string {
  nanos = (nanos + 1) % 1_000_000;
  return `${new Date().toISOString().slice(0, -1)}${String(nanos).padStart(6, '0')}Z`;
}
