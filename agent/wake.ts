/** Wake files: `wake/<wakeId>` holding a generation, put there by the SSM document (DESIGN section 5). */
import { mkdirSync, readdirSync, readFileSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { GENERATION_PATTERN, WAKE_ID_PATTERN } from '../core/contract/names.ts';
import { messageOf, systemCode } from './failure.ts';
import type { Log } from './log.ts';

const WAKE_ID = new RegExp(WAKE_ID_PATTERN);
const GENERATION = new RegExp(GENERATION_PATTERN);

/** A wake; the generation is null when the file held none that can be read. It is a hint either way. */
export type Wake = { readonly wakeId: string; readonly generation: number | null };

export type WakeWatch = {
  /** Takes what lies there now. */
  take(): void;
  close(): void;
};

/** How often the directory is read although no change was noticed: a lost notice is a late wake, never a lost one. */
const POLL_MS = 5000;

/** Watches a directory for wakes; each is deleted once it has been read. */
export function watchWakes(agentDir: string, onWake: (wake: Wake) => void, log: Log): WakeWatch {
  const folder = join(agentDir, 'wake');
  mkdirSync(folder, { recursive: true });
  const take = (): void => {
    try {
      // Whatever cleans /run may have taken it; the poll then does without the watch.
      mkdirSync(folder, { recursive: true });
      for (const name of readdirSync(folder)) if (WAKE_ID.test(name)) takeOne(join(folder, name), name, onWake);
    } catch (error) {
      log('error', 'wake directory unreadable', { folder, why: messageOf(error) });
    }
  };
  const watcher = watch(folder, take);
  watcher.on('error', (error) => log('warn', 'wake directory not watched', { folder, why: messageOf(error) }));
  const poll = setInterval(take, POLL_MS);
  return {
    take,
    close: () => {
      clearInterval(poll);
      watcher.close();
    },
  };
}

function takeOne(file: string, wakeId: string, onWake: (wake: Wake) => void): void {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    // Read and deleted between the listing and now: it has been handled.
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  rmSync(file, { force: true });
  onWake({ wakeId, generation: GENERATION.test(text) ? Number(text) : null });
}
