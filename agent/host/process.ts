/** The process behind an instance of type exec or qemu: started once, found again after a restart, ended for certain. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readIfThere } from '../durable.ts';
import { systemCode } from '../failure.ts';
import { identify, type ProcessIdentity, readProcFile } from '../process-identity.ts';
import type { Environment } from '../settings.ts';
import type { Exit } from './ends.ts';
import type { InstanceKey, LaunchType } from './instance.ts';
import { parseExit, type RunFolders } from './run-folder.ts';
import { DOMAIN_WRAPPER, INSTANCE_VARIABLE, PROCESS_WRAPPER, WRAPPER_NAME } from './wrapper.ts';

const OUTPUT = 'output.log';
/** What goes with a failure. */
const TAIL_BYTES = 4096;
/** A living guest's output is cut back when it grows beyond this; what is left of one that has ended is the second. */
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
const OUTPUT_BYTES_KEPT = 16 * 1024;

/** What a guest inherits: not the agent's credentials, and not its settings; and the mark by which what it starts is found. */
export function guestEnvironment(env: Environment, mark: string): Record<string, string> {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || /^(?:AWS_|HOLDOFF_|NODE_OPTIONS$)/.test(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(kept), [INSTANCE_VARIABLE]: mark };
}

/** A string is for the shell, because the operator declared it so; an array is run as it is. */
const argvOf = (command: string | readonly string[]): readonly string[] =>
  typeof command === 'string' ? ['/bin/sh', '-c', command] : command;

export type StartPlace = {
  /** The instance's own directory, where its output goes. */
  readonly folder: string;
  /** Where its wrapper and the agent speak to each other; a QEMU's working directory. */
  readonly run: string;
  /** The lock of its VM, and where agents of earlier releases had it. */
  readonly lock: string;
  readonly oldLock: string;
  readonly type: LaunchType;
  readonly env: Record<string, string>;
};

/** Starts a guest in a session of its own, its output in a file. Throws what spawn(3) and open(2) throw. */
export function startGuest(place: StartPlace, command: string | readonly string[]): ChildProcess {
  const { folder, run, lock, oldLock, type, env } = place;
  const output = openSync(join(folder, OUTPUT), 'a');
  try {
    const arguments_ = [WRAPPER_NAME, folder, run, lock, oldLock, type, ...argvOf(command)];
    const child = spawn('/bin/sh', ['-c', PROCESS_WRAPPER, ...arguments_], {
      detached: true,
      stdio: ['ignore', output, output],
      env,
      // QEMU's control socket is in its working directory, whose path may be too long for a socket's name.
      cwd: type === 'qemu' ? run : '/',
    });
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

/** Whether a wrapper of an earlier release had claimed an instance: in its own directory. */
export const claimedBefore = (folder: string): boolean => existsSync(join(folder, 'claim'));

/** The wrapper of an instance by the pid it wrote down; null when it is gone, or the pid is another process's. */
export function findWrapper(runs: RunFolders, key: InstanceKey, folder: string): ProcessIdentity | null {
  const pid = runs.pid(key, 'pid') ?? Number.parseInt(readIfThere(join(folder, 'pid')) ?? '', 10);
  if (!Number.isInteger(pid)) return null;
  const command = readProcFile(pid, 'cmdline') ?? '';
  return command.split('\0').includes(folder) ? identify(pid) : null;
}

/** A wrapper as the list of processes shows it: the directory of its instance, whichever agent's that is. */
export type WrapperSeen = {
  readonly name: string;
  readonly root: string;
  readonly identity: ProcessIdentity;
  readonly type: LaunchType;
};

/** All wrappers that live on this host: also those of which no record is left. */
export function findWrappers(): WrapperSeen[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) return [];
    const args = (readProcFile(pid, 'cmdline') ?? '').split('\0');
    const at = args.indexOf(WRAPPER_NAME);
    const folder = at < 0 ? undefined : args[at + 1];
    const identity = folder === undefined ? null : identify(pid);
    // The wrapper's subshells have its arguments too; the wrapper itself leads the session.
    return folder === undefined || identity === null || !leadsSession(pid)
      ? []
      : [{ name: basename(folder), root: dirname(folder), identity, type: typeOf(args, at) }];
  });
}

/** What a wrapper runs, by its arguments (`wrapper.ts`); those of earlier releases ran processes only. */
function typeOf(args: readonly string[], nameAt: number): LaunchType {
  if (args[nameAt - 1] === DOMAIN_WRAPPER) return 'libvirt';
  return args[nameAt - 1] === PROCESS_WRAPPER && args[nameAt + 5] === 'qemu' ? 'qemu' : 'exec';
}

/** Field 6 of /proc/<pid>/stat is the session, whose leader has its number (proc(5)). */
function leadsSession(pid: number): boolean {
  const stat = readProcFile(pid, 'stat') ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3] === String(pid);
}

/** Whether a process is stopped: by a signal, or by a debugger (field 3 of /proc/<pid>/stat, proc(5)). */
export function isStopped(pid: number): boolean {
  const stat = readProcFile(pid, 'stat') ?? '';
  return /^[Tt]$/.test(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3));
}

/** Whether a wrapper of an earlier release ran nothing because another instance of its VM held the lock. */
export const lockedBefore = (folder: string): boolean => existsSync(join(folder, 'locked'));

/** How the guest ended, as a wrapper of an earlier release wrote it; null when it could not. */
export const exitBefore = (folder: string): Exit | null => parseExit(readIfThere(join(folder, 'exit')));

/** Kills what an ended instance left behind; true when there was something. Found by the mark in its environment. */
export function killLeftovers(markedWith: string): boolean {
  const mark = `${INSTANCE_VARIABLE}=${markedWith}`;
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

/** The end of a guest's output; empty when it cannot be read. */
export function outputTail(folder: string, bytes: number = TAIL_BYTES): string {
  let fd: number;
  try {
    fd = openSync(join(folder, OUTPUT), 'r');
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return '';
  }
  try {
    return readTail(fd, bytes).toString('utf8');
  } finally {
    closeSync(fd);
  }
}

/** Keeps a talkative guest from filling the disk: it writes at the end of the file, wherever that is. */
export const limitOutput = (folder: string): void => cutBack(folder, OUTPUT_BYTES_MAX, TAIL_BYTES);

/** Keeps of a guest that has ended what is worth reading. */
export const trimOutput = (folder: string): void => cutBack(folder, OUTPUT_BYTES_KEPT, OUTPUT_BYTES_KEPT);

function cutBack(folder: string, beyond: number, to: number): void {
  if (!existsSync(join(folder, OUTPUT))) return;
  const fd = openSync(join(folder, OUTPUT), 'a+');
  try {
    if (fstatSync(fd).size <= beyond) return;
    const tail = readTail(fd, to);
    ftruncateSync(fd, 0);
    writeSync(fd, tail);
  } finally {
    closeSync(fd);
  }
}

function readTail(fd: number, atMost: number): Buffer {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(Math.min(size, atMost));
  const read = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
  return bytes.subarray(0, read);
}
