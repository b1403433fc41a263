/** Which process a pid means: a pid alone may have been given to another process since. */
import { readFileSync } from 'node:fs';
import { isShortage, systemCode } from './failure.ts';

export type ProcessIdentity = {
  readonly pid: number;
  /** Start time in clock ticks since boot, as /proc/<pid>/stat gives it (field 22, proc(5)). */
  readonly startTime: string;
};

/** The identity of a running process; null when there is none, or only its zombie. */
export function identify(pid: number): ProcessIdentity | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
  // The second field is the name in parentheses and may hold anything; the fields after it do not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTime = fields[19];
  return state === undefined || startTime === undefined || state === 'Z' || state === 'X' ? null : { pid, startTime };
}

/** The same of one that runs, where it can be looked at; null also when there are no descriptors left to look with. */
export function identifyIfPossible(pid: number): ProcessIdentity | null {
  try {
    return identify(pid);
  } catch (error) {
    if (isShortage(error)) return null;
    throw error;
  }
}

/** Whether exactly this process still runs. */
export const isRunning = ({ pid, startTime }: ProcessIdentity): boolean => identify(pid)?.startTime === startTime;

/** A file of a process; null when the process is gone or not ours to read. */
export function readProcFile(pid: number, file: 'cmdline' | 'environ' | 'stat'): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return null;
    throw error;
  }
}
