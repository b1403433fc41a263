/** Whether this machine has QEMU: the programs of Debian's qemu-system-x86 and libvirt packages. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first program of this name on the path; null when there is none. */
export function findProgram(name: string, path: string | undefined): string | null {
  for (const folder of (path ?? '').split(delimiter)) {
    if (folder === '') continue;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Not in this folder, or not ours to run.
    }
  }
  return null;
}

export const QEMU = 'qemu-system-x86_64';

/** What is missing for real guests, and what to do about it. */
export const QEMU_MISSING = [
  `--qemu needs the program ${QEMU}, and there is none on the PATH: scripts stand for the guests.`,
  'Install it (Debian and Ubuntu: sudo apt-get install qemu-system-x86), then stop this and start it again with --qemu. KVM is not needed.',
].join(' ');
