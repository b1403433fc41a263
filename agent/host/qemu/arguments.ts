/**
 * Which arguments of a QEMU a host runs: an allow-list by option, by driver and by key, because QEMU has many ways to name
 * a file, a program or a device of its host. What a host's own settings allow besides is the host's affair. Pure.
 */
import {
  ACCELERATORS,
  BLOCK_DRIVERS,
  BLOCK_KEYS,
  BOOT_KEYS,
  DEVICE_DRIVERS,
  DEVICE_KEYS,
  DRIVE_KEYS,
  FILE_KEYS,
  MACHINE_KEYS,
  NET_KEYS,
  NET_TYPES,
  PLAIN_KEYS,
} from './allowed.ts';

/** What this host allows launch definitions of type qemu. */
export type QemuRules = {
  readonly program: string;
  /** Options that may be used, without their hyphens. */
  readonly options: readonly string[];
  /** Drivers of -device that may be used besides the usual ones: host devices, for instance. */
  readonly devices: readonly string[];
  /** Directories in which every file that an argument names must lie. */
  readonly dirs: readonly string[];
};

/** Options of qemu-system(1) that a launch definition may use where the host says nothing else. */
export const USUAL_OPTIONS: readonly string[] = (
  'accel append bios blockdev boot cdrom cpu device drive dtb enable-kvm fda fdb hda hdb hdc hdd initrd k kernel M m ' +
  'machine name netdev nic no-acpi no-hpet no-reboot no-user-config nodefaults nographic numa pflash rtc smbios smp ' +
  'uuid vga'
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

/** Options that take no value: what follows one is an argument of no option. */
const FLAGS = new Set('enable-kvm no-acpi no-hpet no-reboot no-user-config nodefaults nographic'.split(' '));
/** Options whose whole value is a file. */
const FILES = new Set('bios cdrom dtb fda fdb hda hdb hdc hdd initrd kernel pflash'.split(' '));
/** Options whose value is the guest's own affair, or one word. */
const TEXTS: Readonly<Record<string, RegExp>> = {
  append: /^/,
  uuid: /^[0-9a-fA-F-]+$/,
  vga: /^[a-z0-9-]+$/,
  k: /^[a-z0-9-]+$/,
};

/** Why this host does not run these arguments; null when it does. */
export function qemuRefusal(args: readonly string[], rules: QemuRules): string | null {
  let option: string | null = null;
  for (const arg of args) {
    if (arg.includes('\0')) return 'an argument holds a NUL character';
    // What follows an option that takes a value is its value, as QEMU reads it, whatever it begins with.
    if (option === null && arg.startsWith('-')) {
      option = arg.replace(/^--?/, '');
      const refusal = optionRefusal(option, rules);
      if (refusal !== null) return refusal;
      if (FLAGS.has(option)) option = null;
      continue;
    }
    if (option === null) return `"${arg}" belongs to no option: name disk images with -drive file=…`;
    const refusal = valueRefusal(option, arg, rules);
    if (refusal !== null) return `the value of -${option} is refused: ${refusal}`;
    option = null;
  }
  return option === null ? null : `option -${option} has no value`;
}

function optionRefusal(option: string, rules: QemuRules): string | null {
  const ours = Object.hasOwn(OURS, option) ? OURS[option] : undefined;
  if (ours !== undefined) return `option -${option} is refused: ${ours}`;
  return rules.options.includes(option)
    ? null
    : `option -${option} is not among those this host allows (HOLDOFF_QEMU_OPTIONS)`;
}

function valueRefusal(option: string, value: string, rules: QemuRules): string | null {
  const text = TEXTS[option];
  if (text !== undefined) return text.test(value) ? null : `"${value}" is not a word that it takes`;
  if (value.startsWith('-')) return `"${value}" looks like an option`;
  if (FILES.has(option)) return fileRefusal(value, rules);
  if (value.startsWith('mon:') || value.startsWith('{')) return 'JSON and multiplexed monitors cannot be checked';
  if (value.includes(',,')) return 'an escaped comma cannot be checked';
  const parts = value.split(',').map((part) => partOf(part));
  return listRefusal(option, parts, rules);
}

/** One `key=value`, or a word alone. */
type Part = { readonly key: string | null; readonly value: string };

function partOf(text: string): Part {
  const at = text.indexOf('=');
  return at < 0 ? { key: null, value: text } : { key: text.slice(0, at), value: text.slice(at + 1) };
}

function listRefusal(option: string, parts: readonly Part[], rules: QemuRules): string | null {
  switch (option) {
    case 'drive':
      return keysRefusal(parts, DRIVE_KEYS, rules);
    case 'blockdev':
      return typeRefusal(parts, 'driver', BLOCK_DRIVERS) ?? keysRefusal(named(parts, 'driver'), BLOCK_KEYS, rules);
    case 'device':
      return deviceRefusal(parts, rules);
    case 'netdev':
    case 'nic':
      return typeRefusal(parts, 'type', NET_TYPES) ?? keysRefusal(named(parts, 'type'), NET_KEYS, rules);
    case 'accel':
      return typeRefusal(parts, 'accel', ACCELERATORS) ?? keysRefusal(named(parts, 'accel'), PLAIN_KEYS.accel, rules);
    case 'machine':
    case 'M':
      return keysRefusal(named(parts, 'type'), MACHINE_KEYS, rules);
    case 'boot':
      return keysRefusal(named(parts, 'order'), BOOT_KEYS, rules);
    case 'cpu':
      // Features of a processor: words, numbers and switches. None is a file.
      return keysRefusal(named(parts, 'model'), /^[A-Za-z0-9_.+-]+$/, rules);
    case 'm':
    case 'smp':
    case 'name':
    case 'numa':
    case 'rtc':
    case 'smbios':
      return keysRefusal(named(parts, FIRST_KEY[option]), PLAIN_KEYS[option], rules);
    default:
      // The host itself has allowed an option that is not among the usual ones: what is a path has to lie where files may.
      return othersRefusal(parts, rules);
  }
}

/** What the first word of an option's list stands for. */
const FIRST_KEY = { m: 'size', smp: 'cpus', name: 'guest', numa: 'type', rtc: 'base', smbios: 'file' } as const;

/** The list with its first word under the key it stands for. */
function named(parts: readonly Part[], key: string): readonly Part[] {
  const [first, ...rest] = parts;
  return first !== undefined && first.key === null ? [{ key, value: first.value }, ...rest] : parts;
}

function typeRefusal(parts: readonly Part[], key: string, allowed: ReadonlySet<string>): string | null {
  const type = named(parts, key).filter((part) => part.key === key);
  const wrong = type.find(({ value }) => !allowed.has(value));
  if (type.length === 0) return `it names no ${key}`;
  return wrong === undefined ? null : `${key} ${wrong.value} is not among those that are allowed`;
}

function deviceRefusal(parts: readonly Part[], rules: QemuRules): string | null {
  const all = named(parts, 'driver');
  const drivers = all.filter(({ key }) => key === 'driver');
  if (drivers.length !== 1 || parts[0]?.key === 'help') return 'it names no driver, or two';
  const driver = drivers[0]?.value ?? '';
  if (rules.devices.includes(driver)) return othersRefusal(parts, rules);
  if (!DEVICE_DRIVERS.has(driver))
    return `driver ${driver} is not among those this host allows (HOLDOFF_QEMU_DEVICES adds some)`;
  return keysRefusal(all, DEVICE_KEYS, rules);
}

function keysRefusal(parts: readonly Part[], allowed: RegExp | ReadonlySet<string>, rules: QemuRules): string | null {
  for (const { key, value } of parts) {
    // A word alone is a switch.
    const name = key ?? value.replace(/^no/, '');
    const known = allowed instanceof RegExp ? allowed.test(name) : allowed.has(key ?? name) || allowed.has(value);
    if (!known) return `${key ?? value} is not among the keys that are allowed there`;
    const refusal = key === null ? null : oneRefusal(key, value, rules);
    if (refusal !== null) return refusal;
  }
  return null;
}

/** A key's own rule: a file, one of some words, or anything that is no path. */
function oneRefusal(key: string, value: string, rules: QemuRules): string | null {
  if (FILE_KEYS.has(key)) return fileRefusal(value, rules);
  const only = VALUES[key];
  if (only !== undefined)
    return only.has(value) ? null : `${key}=${value} is not allowed: only ${[...only].join(', ')}`;
  return isPathLike(value) ? `${key}=${value} looks like a path, and ${key} names no file` : null;
}

/** Keys that take only some values; nothing at all, where the host's own default would be a program or a file. */
const VALUES: Readonly<Record<string, ReadonlySet<string>>> = {
  script: new Set(['no', '']),
  downscript: new Set(['no', '']),
  romfile: new Set(['']),
  format: new Set('raw qcow2 qed vdi vmdk vpc vhdx'.split(' ')),
  driver: new Set([...BLOCK_DRIVERS, ...DEVICE_DRIVERS]),
};

/** A network `10.0.2.0/24` and a date are none. */
const isPathLike = (value: string): boolean => /^\/|:\/|(?:^|\/)\.\.(?:\/|$)/.test(value);

/** Keys whose value is a file, or a name that QEMU would open as one, wherever they stand. */
const FILE_LIKE =
  /^(?:.*\.)?(?:file|filename|path|mem-path|romfile|script|downscript|helper|bootfile|tftp|smb|logfile|dir|rootdir|fd|fds|certs?|x509.*|secret-file|guestfwd)$/;

function othersRefusal(parts: readonly Part[], rules: QemuRules): string | null {
  for (const { key, value } of parts) {
    const isFile = isPathLike(value) || (key !== null && FILE_LIKE.test(key) && VALUES[key]?.has(value) !== true);
    const refusal = isFile ? fileRefusal(value, rules) : null;
    if (refusal !== null) return refusal;
  }
  return null;
}

/** A file is absolute, has no `..`, and lies in a directory that the host allows. Links there are the host's affair. */
function fileRefusal(file: string, { dirs }: QemuRules): string | null {
  const steps = file.split('/');
  const plain = file.startsWith('/') && !file.includes(',,') && !steps.includes('..');
  if (plain && dirs.some((dir) => `${file}/`.startsWith(`${dir.replace(/\/+$/, '')}/`))) return null;
  return `it names ${file}, which is not an absolute path in a directory that this host allows (HOLDOFF_QEMU_DIRS)`;
}
