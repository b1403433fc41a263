/** The command line of a QEMU guest: what a launch definition may say on this host, and what the agent adds. Pure. */
import { isAbsolute, resolve } from 'node:path';

/** What this host allows launch definitions of type qemu. */
export type QemuRules = {
  readonly program: string;
  /** Options that may be used, without their hyphens. */
  readonly options: readonly string[];
  /** Directories in which every file that an argument names must lie. */
  readonly dirs: readonly string[];
};

/** QEMU's control socket, in the directory of its instance, which is also its working directory. */
export const QMP_SOCKET = 'qmp.sock';

/** Options of qemu-system(1) that a launch definition may use where the host says nothing else. */
export const USUAL_OPTIONS: readonly string[] = (
  'accel append bios boot blockdev cdrom cpu device drive dtb enable-kvm fda global hda hdb hdc hdd initrd kernel M m ' +
  'machine name netdev nic no-acpi no-hpet no-reboot no-user-config nodefaults nographic numa pflash rtc sandbox ' +
  'smbios smp uuid vga'
).split(' ');

/** Options that would take the guest out of the agent's hands; no host can allow them. */
const OURS: Readonly<Record<string, string>> = {
  qmp: 'the agent has the only QMP connection',
  'qmp-pretty': 'the agent has the only QMP connection',
  mon: 'the agent has the only monitor',
  monitor: 'the agent has the only monitor',
  daemonize: 'QEMU must stay the child of its wrapper, which knows how it ended',
  pidfile: 'the agent keeps the identity of the process',
  action: 'the agent decides what follows a shutdown or a panic',
  'no-shutdown': 'the agent decides what follows a shutdown',
  'watchdog-action': 'the agent decides what follows a watchdog',
  S: 'a guest that waits to be told to run never comes to be Running',
  preconfig: 'a guest that waits to be configured never comes to be Running',
  incoming: 'a guest that waits for a migration never comes to be Running',
  readconfig: 'the options in a file cannot be checked',
  writeconfig: 'it writes a file of the host',
  gdb: 'a debugger could take the guest over',
  s: 'a debugger could take the guest over',
  runas: 'the identity of the process is the host’s to choose',
  chroot: 'the QMP socket would be out of reach',
};

/** Options whose whole value is a file. */
const FILE_OPTIONS = new Set([
  'bios',
  'cdrom',
  'dtb',
  'fda',
  'fdb',
  'hda',
  'hdb',
  'hdc',
  'hdd',
  'initrd',
  'kernel',
  'pflash',
]);
/** Options that take no value: what follows one is an argument of no option. */
const FLAG_OPTIONS = new Set([
  'enable-kvm',
  'no-acpi',
  'no-hpet',
  'no-reboot',
  'no-user-config',
  'nodefaults',
  'nographic',
]);
/** Keys of an option's list whose value is a file, or a name that QEMU would open as one. */
const FILE_KEY =
  /^(?:.*\.)?(?:file|filename|path|mem-path|romfile|script|downscript|helper|bootfile|tftp|smb|logfile|dir|rootdir|fd|fds|certs?|dump-guest|x509.*|secret-file|guestfwd)$/;

/** Why this host does not run these arguments; null when it does. */
export function qemuRefusal(args: readonly string[], rules: QemuRules): string | null {
  let option: string | null = null;
  for (const arg of args) {
    if (arg.includes('\0')) return 'an argument holds a NUL character';
    if (arg.startsWith('-')) {
      option = arg.replace(/^--?/, '');
      const ours = OURS[option];
      if (ours !== undefined) return `option -${option} is refused: ${ours}`;
      if (!rules.options.includes(option)) {
        return `option -${option} is not among those this host allows (HOLDOFF_QEMU_OPTIONS)`;
      }
      if (FLAG_OPTIONS.has(option)) option = null;
      continue;
    }
    if (option === null) return `"${arg}" belongs to no option: name disk images with -drive file=…`;
    const refusal = valueRefusal(option, arg, rules);
    if (refusal !== null) return refusal;
    option = null;
  }
  return null;
}

function valueRefusal(option: string, value: string, rules: QemuRules): string | null {
  // The kernel's command line is the guest's own affair.
  if (option === 'append' || option === 'uuid') return null;
  if (value.startsWith('mon:') || value.startsWith('{'))
    return `the value of -${option} is refused: JSON and multiplexed monitors cannot be checked`;
  const files = FILE_OPTIONS.has(option) ? [value] : value.split(/(?<!,),(?!,)/).flatMap((part) => fileOf(part));
  for (const file of files) {
    if (!isAbsolute(file) || file.includes(',,') || !rules.dirs.some((dir) => liesIn(file, dir))) {
      return `-${option} names ${file}, which is not an absolute path in a directory that this host allows (HOLDOFF_QEMU_DIRS)`;
    }
  }
  return null;
}

/** The file that one `key=value` of an option's list names. */
function fileOf(part: string): string[] {
  const at = part.indexOf('=');
  const [key, text] = at < 0 ? ['', part] : [part.slice(0, at), part.slice(at + 1)];
  return FILE_KEY.test(key) || text.startsWith('/') ? [text] : [];
}

const liesIn = (file: string, dir: string): boolean => `${resolve(file)}/`.startsWith(`${resolve(dir)}/`);

/**
 * The whole command, to be run in the instance's directory. A guest that has shut down or panicked stays there,
 * stopped, until the agent has seen it: also when there is no agent at that moment, nothing of its end is lost
 * (qemu-system(1), -action). Its first serial port is its console.
 */
export function qemuCommand(program: string, args: readonly string[]): string[] {
  const has = (...options: string[]): boolean => args.some((arg) => options.includes(arg.replace(/^--?/, '-')));
  const ours = [
    ...(has('-nographic', '-display') ? [] : ['-display none']),
    ...(has('-nographic', '-serial') ? [] : ['-serial stdio']),
    '-monitor none',
    `-chardev socket,id=${QMP_ID},path=${QMP_SOCKET},server=on,wait=off`,
    `-mon chardev=${QMP_ID},mode=control`,
    '-action shutdown=pause,panic=pause',
  ];
  return [program, ...args, ...ours.flatMap((option) => option.split(' '))];
}

const QMP_ID = 'holdoff-qmp';
