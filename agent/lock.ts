/** One agent per state directory: two would issue every command twice. */
import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from './durable.ts';
import { AgentError, messageOf, systemCode } from './failure.ts';
import { identify, isRunning } from './process-identity.ts';

/**
 * Takes the lock of a state directory: flock(2) on `agent.lock`, which the kernel gives to one holder and takes back at
 * its death, however that comes. Node cannot call it, so util-linux's flock locks the open file that it inherits; the
 * lock belongs to that open file and stays with the agent when the program has ended. Nothing else inherits the file.
 * The holder's pid and start time stand in it, for people, and for an agent of an earlier release, which knows a holder by them.
 * Throws Locked when another agent is alive, and Host when there is no flock here.
 */
export function takeLock(stateDir: string, pid: number = process.pid): { release(): void } {
  mkdirSync(stateDir, { recursive: true });
  const file = join(stateDir, 'agent.lock');
  for (let tries = 0; tries < TRIES; tries += 1) {
    // Not emptied: until it is locked it is another's.
    const fd = openSync(file, 'a+', 0o600);
    try {
      if (!lockFile(fd)) throw new AgentError('Locked', `${holderOf(file)} is at work in ${stateDir}`);
      if (isFile(fd, file)) {
        refuseOlderHolder(file, pid, stateDir);
        sayHolder(fd, pid);
        return { release: () => release(fd) };
      }
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    // An agent of an earlier release removed the file when it ended: this lock is on a file that nobody finds any more.
    closeSync(fd);
  }
  throw new AgentError('Locked', `cannot take ${file}`);
}

const TRIES = 5;
/** What flock(1) exits with when the lock is held. */
const HELD = 1;

/** False when another process holds the lock of this open file. */
function lockFile(fd: number): boolean {
  const { status, error, stderr } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'pipe', fd] });
  if (status === 0) return true;
  if (status === HELD) return false;
  const why = error === undefined ? stderr.toString('utf8').trim() : messageOf(error);
  throw new AgentError('Host', `flock (util-linux) is needed on this host and does not run: ${why}`);
}

function isFile(fd: number, file: string): boolean {
  try {
    const [mine, there] = [fstatSync(fd), statSync(file)];
    return mine.ino === there.ino && mine.dev === there.dev;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

const holderOf = (file: string): string => `the agent with pid ${(readIfThere(file) ?? '').split(' ')[0] ?? 'unknown'}`;

/** An agent of an earlier release holds no lock that the kernel knows of: it is a holder as long as it runs. */
function refuseOlderHolder(file: string, pid: number, stateDir: string): void {
  const [holder, startTime] = (readIfThere(file) ?? '').split(' ');
  // In a container every agent is process 1: a holder with our own pid is one of an earlier boot.
  if (startTime === undefined || Number(holder) === pid || !isRunning({ pid: Number(holder), startTime })) return;
  throw new AgentError('Locked', `the agent with pid ${holder} is at work in ${stateDir}`);
}

/** Emptied first: nobody is to take a process that lives on for a holder. */
function release(fd: number): void {
  ftruncateSync(fd, 0);
  closeSync(fd);
}

function sayHolder(fd: number, pid: number): void {
  try {
    ftruncateSync(fd, 0);
    writeSync(fd, `${pid} ${identify(pid)?.startTime ?? '0'}`);
  } catch (error) {
    // A full disk: the lock is held all the same.
    if (systemCode(error) !== 'ENOSPC' && systemCode(error) !== 'EDQUOT') throw error;
  }
}
