/** Whether a QEMU that nobody has restrained really reaches a file, so that a list of escapes is one. */
import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../../agent/failure.ts';
import type { Escape } from './escapes.ts';

/** A file that shows that it was reached: a pipe, a file, or a program that leaves a mark. */
export function placeBait(file: string, how: Escape['how']): void {
  if (how === 'reads') execFileSync('mkfifo', [file]);
  else if (how === 'holds') writeFileSync(file, Buffer.alloc(1 << 20));
  else writeFileSync(file, `#!/bin/sh\n: > '${file}.ran'\n`, { mode: 0o755 });
}

/** Runs QEMU with these arguments until it has reached the file, or has ended; a guest of it never runs. */
export async function reaches(program: string, { args, how }: Escape, file: string): Promise<boolean> {
  const plain = '-nodefaults -display none -S -m 16 -accel tcg'.split(' ');
  const qemu = spawn(program, [...plain, ...args(file)], { cwd: '/', stdio: 'ignore' });
  const gone = new Promise<void>((done) => {
    qemu.once('exit', () => done());
  });
  const end = Date.now() + 30_000;
  let reached = false;
  while (!reached && qemu.exitCode === null && Date.now() < end) {
    reached = SEEN[how](file, qemu.pid ?? 0);
    if (!reached) await sleep(5);
  }
  qemu.kill('SIGKILL');
  await gone;
  return reached || (how === 'runs' && SEEN.runs(file, 0));
}

const SEEN: Readonly<Record<Escape['how'], (file: string, pid: number) => boolean>> = {
  reads: hasReader,
  holds: isHeld,
  runs: (file) => existsSync(`${file}.ran`),
};

/** A pipe can be opened for writing without a wait only while somebody has opened it for reading (fifo(7)). */
function hasReader(file: string): boolean {
  try {
    closeSync(openSync(file, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENXIO') return false;
    throw error;
  }
}

function isHeld(file: string, pid: number): boolean {
  try {
    const maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
    return maps.includes(file) || readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(pid, fd) === file);
  } catch (error) {
    // The process is gone.
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ESRCH') return false;
    throw error;
  }
}

function linkOf(pid: number, fd: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
