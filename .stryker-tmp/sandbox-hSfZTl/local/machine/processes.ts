/** The processes of one machine, found by a mark in their environment that they hand on to what they start. */
// @ts-nocheck

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The variable every process of a machine carries; its value is the machine's directory. */
export const MACHINE_VARIABLE = 'LOCAL_MACHINE';

/** Pids of what runs on a machine, whoever started it and in whatever session. */
export function processesOf(dir: string): number[] {
  const mark = `${MACHINE_VARIABLE}=${dir}`;
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && environOf(pid).includes(mark));
}

/** Empty for a process that is gone, is a zombie, or is not ours. */
function environOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch (error) {
    if (codeOf(error) === null) throw error;
    return [];
  }
}

/** Ends everything on a machine, as losing power does; resolves when nothing is left. */
export async function killProcessesOf(dir: string): Promise<void> {
  for (;;) {
    const pids = processesOf(dir);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid, 'SIGKILL');
    await sleep(10);
  }
}

/** Signals a process; one that is gone already is no error. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
