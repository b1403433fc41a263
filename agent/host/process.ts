/** The process behind an instance of type exec or qemu: started once, found again after a restart, ended for certain. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readIfThere } from '../durable.ts';
import { systemCode } from '../failure.ts';
import { identify, type ProcessIdentity } from '../process-identity.ts';
import type { Environment } from '../settings.ts';
import type { Exit, InstanceKey } from './instance.ts';

/** Exists when the wrapper did not get the lock of its VM. */
const REFUSED = 'locked';
/** What the wrapper is called in the list of processes; its directory follows. */
const WRAPPER_NAME = 'holdoff-guest';

/**
 * Leads the instance's own session and outlives the agent. It runs only if it is the first to claim the directory (a
 * restarted agent that claims it first knows that nothing was or will be started), and only if it gets the lock of its
 * VM, which it and everything it starts hold open until the last of them is gone: also without an agent, and without
 * its records, no second instance of the VM can live. It says its pid, and writes down how the guest ended, because
 * after a restart nobody is left who could wait for it. TERM is for the guest: the wrapper holds it, and the subshell
 * gets the default back.
 */
const WRAPPER = `dir=$1; lock=$2; shift 2
mkdir "$dir/claim" 2>/dev/null || exit 125
command -v flock > /dev/null || { echo 'flock (util-linux) is missing on this host' >&2; exit 127; }
exec 9>>"$lock"
flock -n 9 || { echo refused > "$dir/${REFUSED}"; exit 126; }
echo $$ > "$dir/pid"
trap : TERM INT HUP
(exec "$@")
code=$?
echo "$code" > "$dir/exit.new" && mv "$dir/exit.new" "$dir/exit"
exit "$code"`;

const OUTPUT = 'output.log';
const TAIL_BYTES = 4096;
/** A guest's output is cut back when it grows beyond this. */
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

/** What a guest inherits: not the agent's credentials, and not its settings. */
export function guestEnvironment(env: Environment, key: InstanceKey): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || /^(?:AWS_|HOLDOFF_|NODE_OPTIONS$)/.test(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(kept), [INSTANCE_VARIABLE]: key };
}
const INSTANCE_VARIABLE = 'HOLDOFF_INSTANCE';

/** A string is for the shell, because the operator declared it so; an array is run as it is. */
const argvOf = (command: string | readonly string[]): readonly string[] =>
  typeof command === 'string' ? ['/bin/sh', '-c', command] : command;

export type StartPlace = {
  /** The instance's own directory. */
  readonly folder: string;
  /** The lock of its VM. */
  readonly lock: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
};

/** Starts a guest in a session of its own, its output in a file. */
export function startGuest({ folder, lock, cwd, env }: StartPlace, command: string | readonly string[]): ChildProcess {
  const output = openSync(join(folder, OUTPUT), 'a');
  try {
    const child = spawn('/bin/sh', ['-c', WRAPPER, WRAPPER_NAME, folder, lock, ...argvOf(command)], {
      detached: true,
      stdio: ['ignore', output, output],
      env,
      cwd,
    });
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

/** Claims a directory for nobody; false when the wrapper had claimed it before. */
export function claimUnstarted(folder: string): boolean {
  try {
    mkdirSync(join(folder, 'claim'));
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** The wrapper of a directory by the pid it wrote down; null when it is gone, or the pid is another process's. */
export function findWrapper(folder: string): ProcessIdentity | null {
  const pid = Number.parseInt(readIfThere(join(folder, 'pid')) ?? '', 10);
  if (!Number.isInteger(pid)) return null;
  const command = readProcFile(pid, 'cmdline') ?? '';
  return command.split('\0').includes(folder) ? identify(pid) : null;
}

/** Wrappers of instances in a directory, by what the list of processes says: also those of which no record is left. */
export function findWrappers(root: string): { name: string; identity: ProcessIdentity }[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) return [];
    const args = (readProcFile(pid, 'cmdline') ?? '').split('\0');
    const at = args.indexOf(WRAPPER_NAME);
    const folder = at < 0 ? undefined : args[at + 1];
    const identity = folder !== undefined && dirname(folder) === root ? identify(pid) : null;
    // The wrapper's subshell has its arguments too; the wrapper itself leads the session.
    return folder === undefined || identity === null || !leadsSession(pid)
      ? []
      : [{ name: basename(folder), identity }];
  });
}

/** Field 6 of /proc/<pid>/stat is the session, whose leader has its number (proc(5)). */
function leadsSession(pid: number): boolean {
  const stat = readProcFile(pid, 'stat') ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3] === String(pid);
}

/** Whether the wrapper ran nothing because another instance of its VM still holds the lock. */
export const wasLocked = (folder: string): boolean => existsSync(join(folder, REFUSED));

/** How the guest ended, as the wrapper wrote it; null when it could not. */
export function recordedExit(folder: string): Exit | null {
  const code = Number.parseInt(readIfThere(join(folder, 'exit')) ?? '', 10);
  return Number.isInteger(code) ? { code, signal: null } : null;
}

/** Kills what an ended instance left behind; true when there was something. Found by the key in its environment. */
export function killLeftovers(key: InstanceKey): boolean {
  const mark = `${INSTANCE_VARIABLE}=${key}`;
  let found = false;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || !(readProcFile(pid, 'environ') ?? '').split('\0').includes(mark)) continue;
    if (identify(pid) === null) continue;
    found = true;
    signalOne(pid);
  }
  return found;
}

function signalOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}

/** A file of a process; null when the process is gone or not ours to read. */
function readProcFile(pid: number, file: 'cmdline' | 'environ' | 'stat'): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return null;
    throw error;
  }
}

/** The end of a guest's output. */
export function outputTail(folder: string): string {
  const fd = openSync(join(folder, OUTPUT), 'a+');
  try {
    return readTail(fd).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

/** Keeps a talkative guest from filling the disk: it writes at the end of the file, wherever that is. */
export function limitOutput(folder: string): void {
  const fd = openSync(join(folder, OUTPUT), 'a+');
  try {
    if (fstatSync(fd).size <= OUTPUT_BYTES_MAX) return;
    const tail = readTail(fd);
    ftruncateSync(fd, 0);
    writeSync(fd, tail);
  } finally {
    closeSync(fd);
  }
}

function readTail(fd: number): Buffer {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
  const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
  return bytes.subarray(0, read);
}
