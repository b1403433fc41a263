/** Which launch definitions this host runs: its own settings decide, never the control plane. Pure. */
import type { Launch } from '../../core/contract/operator-bodies.ts';
import { libvirtRefusal, type LibvirtRules } from './libvirt/states.ts';
import { qemuRefusal, type QemuRules } from './qemu/arguments.ts';

/** What a host allows; null where it has not opted in. */
export type LaunchRules = {
  readonly allowExec: boolean;
  readonly qemu: QemuRules | null;
  readonly libvirt: LibvirtRules | null;
};

/** Why this host does not run a launch definition; null when it does. */
export function refusalOf(launch: Launch, rules: LaunchRules): string | null {
  switch (launch.type) {
    case 'exec':
      if (!rules.allowExec) return notHere('exec', 'HOLDOFF_ALLOW_EXEC');
      return [launch.command].flat().some((word) => word.includes('\0')) ? 'the command holds a NUL character' : null;
    case 'qemu':
      return rules.qemu === null ? notHere('qemu', 'HOLDOFF_QEMU') : qemuRefusal(launch.args, rules.qemu);
    case 'libvirt':
      return rules.libvirt === null
        ? notHere('libvirt', 'HOLDOFF_LIBVIRT')
        : libvirtRefusal(launch.domain, rules.libvirt);
  }
}

const notHere = (type: Launch['type'], variable: string): string =>
  `this host does not run launch definitions of type ${type} (${variable} is not set)`;
