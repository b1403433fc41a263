/** Real guests for the tests: where QEMU is, and the images they boot. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Launch } from '../../core/contract/operator-bodies.ts';
import { bootSector, guestArgs, type GuestStory } from '../../local/demo/boot-sector.ts';
import { findProgram, QEMU } from '../../local/demo/qemu.ts';

/** /usr/sbin is where libvirtd is, and not on everybody's path. */
const path = `${process.env['PATH'] ?? ''}:/usr/sbin`;

/**
 * A program of the Debian packages that `.ci/run` installs. Without it the tests are skipped, and say so; where they
 * are required (`npm run test:qemu`, CI) its absence is a failure.
 */
export function installed(name: string): string | null {
  const program = findProgram(name, path);
  if (program !== null) return program;
  const message = `${name} is not installed: the tests with real guests need the Debian packages qemu-system-x86, libvirt-daemon, libvirt-daemon-driver-qemu and libvirt-clients`;
  if (process.env['HOLDOFF_QEMU_TESTS'] === 'required') throw new Error(message);
  process.stderr.write(`skipped: ${message}\n`);
  return null;
}

export const qemu = installed(QEMU);

/** A directory of images, which is what a host allows its launch definitions to name. */
export class Images {
  readonly dir = mkdtempSync(join(tmpdir(), 'holdoff-images-'));

  /** Writes the image of a guest; answers its file. */
  image(name: string, story: GuestStory): string {
    const file = join(this.dir, `${name}.img`);
    writeFileSync(file, bootSector(story));
    return file;
  }

  launch(name: string, story: GuestStory): Launch {
    return { type: 'qemu', args: guestArgs(this.image(name, story)) };
  }

  /** A guest that runs until its power button is pressed. */
  obedient(name: string): Launch {
    return this.launch(name, { says: `${name} has booted`, does: 'obey' });
  }

  /** Its image is a pipe that nobody writes to: QEMU waits for ever to open it, and its guest never runs. */
  stuck(name: string): Launch {
    const pipe = join(this.dir, `${name}.img`);
    if (!existsSync(pipe)) execFileSync('mkfifo', [pipe]);
    return { type: 'qemu', args: guestArgs(pipe) };
  }

  /** A launch definition whose image does not exist: QEMU itself refuses it. */
  broken(): Launch {
    return { type: 'qemu', args: guestArgs(join(this.dir, 'no-such.img')) };
  }

  /** The settings of an agent whose host allows these images. */
  get agentEnv(): Record<string, string> {
    return { HOLDOFF_QEMU: qemu ?? '', HOLDOFF_QEMU_DIRS: this.dir };
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
