/** One agent per state directory: two would issue every command twice. */
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from './durable.ts';
import { AgentError, systemCode } from './failure.ts';
import { identify, isRunning } from './process-identity.ts';

/** Takes the lock of a state directory; the holder's death frees it. Throws Locked when another agent is alive. */
export function takeLock(stateDir: string, pid: number): { release(): void } {
  mkdirSync(stateDir, { recursive: true });
  const file = join(stateDir, 'agent.lock');
  const own = `${pid} ${identify(pid)?.startTime ?? '0'}`;
  const mine = `${file}.${pid}`;
  writeFileSync(mine, own);
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (tryLink(mine, file)) return { release: () => rmSync(file, { force: true }) };
      const holder = readIfThere(file);
      const [holderPid, startTime] = (holder ?? '').split(' ');
      // In a container every agent is process 1: a holder with our own pid is one of an earlier boot.
      if (startTime !== undefined && Number(holderPid) !== pid && isRunning({ pid: Number(holderPid), startTime })) {
        throw new AgentError('Locked', `the agent with pid ${holderPid} is at work in ${stateDir}`);
      }
      rmSync(file, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
  throw new AgentError('Locked', `cannot take ${file}`);
}

const TRIES = 3;

/** A link is made whole or not at all: nobody reads a half-written lock. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}
