/** Which process a pid means: a pid alone may have been given to another process since. */
// @ts-nocheck

import { readFileSync } from 'node:fs';
import { systemCode } from './failure.ts';

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

/** Whether exactly this process still runs. */
export const isRunning = ({ pid, startTime }: ProcessIdentity): boolean => identify(pid)?.startTime === startTime;
