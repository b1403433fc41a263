/** Which boot this is and how long it has lasted, from the kernel's files. */
import { readFileSync } from 'node:fs';
import { AgentError, isShortage, messageOf } from '../failure.ts';

/** The id of this boot. */
export function readBootId(file: string): string {
  const text = readHostFile(file).trim();
  if (text === '') throw new AgentError('Host', `${file} is empty`);
  return text;
}

function readHostFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new AgentError('Host', `cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Seconds since boot that grow from one reading to the next. The control plane drops a report whose uptime is not above
 * the last one's, and two readings can fall into one tick of the kernel's counter.
 */
export function createUptime(file: string, monotonicMs: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY;
  let base: { uptime: number; at: number } | null = null;
  const read = (): number => {
    const seconds = Number.parseFloat(readHostFile(file));
    if (!Number.isFinite(seconds)) throw new AgentError('Host', `${file} does not begin with a number`);
    return seconds;
  };
  return () => {
    const now = monotonicMs();
    base ??= { uptime: read(), at: now };
    last = Math.max(readAgain(read), base.uptime + (now - base.at) / 1000, last + TICK_SECONDS);
    last = Math.round(last * 1000) / 1000;
    return last;
  };
}

/** Where there are no descriptors left to read it with, what has been counted since the first reading stands. */
function readAgain(read: () => number): number {
  try {
    return read();
  } catch (error) {
    if (isShortage(error)) return Number.NEGATIVE_INFINITY;
    throw error;
  }
}

const TICK_SECONDS = 0.001;
