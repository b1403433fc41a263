/**
 * Whose the version-lock is. A rollback and a pinned group set settings.updates.version-lock; an owner may have set it
 * before. What is ours stands in a file of its own, written before the lock is set: so that a lock of ours is taken back
 * also when the node's record is lost, and an owner's is never taken for ours. Deciding is pure.
 */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readIfThere, removeDurably, writeDurably } from '../durable.ts';
import { LATEST } from './driver.ts';

const heldSchema = z.object({
  /** Every lock that we have set, or were about to set, since it was the owner's. */
  ours: z.array(z.string()),
  /** What stood there before the first of them. */
  before: z.string(),
});
export type HeldLock = z.infer<typeof heldSchema>;

export type LockChange =
  /** Set it; first keep that it is ours. */
  | { act: 'hold'; version: string; held: HeldLock }
  /** Set it to what it was, then forget it. */
  | { act: 'giveBack'; version: string }
  /** Somebody else has set it since: it is theirs. */
  | { act: 'forget' };

export type LockStore = { load(): HeldLock | null; save(held: HeldLock): void; forget(): void };

/** Opens the file in a state directory. What cannot be read was never ours: it was written whole or not at all. */
export function openLockStore(stateDir: string): LockStore {
  const file = join(stateDir, 'version-lock.json');
  return {
    load: () => {
      const text = readIfThere(file);
      if (text === null) return null;
      try {
        const parsed = heldSchema.safeParse(JSON.parse(text));
        return parsed.success ? parsed.data : null;
      } catch (error) {
        if (error instanceof SyntaxError) return null;
        throw error;
      }
    },
    save: (held) => writeDurably(file, `${JSON.stringify(held)}\n`),
    forget: () => removeDurably(file),
  };
}

/** @param lock what it is now */
export const holdLock = (version: string, lock: string, held: HeldLock | null): LockChange => ({
  act: 'hold',
  version,
  held: { ours: [...new Set([...(held?.ours ?? []), version])], before: held?.before ?? lock },
});

/** Null when nothing of ours is set, or it cannot be said yet. */
export function giveLockBack(lock: string | null, held: HeldLock | null): LockChange | null {
  if (held === null || lock === null) return null;
  return held.ours.includes(lock) ? { act: 'giveBack', version: held.before } : { act: 'forget' };
}

/**
 * What a pin asks of the lock while nothing else is done (DESIGN section 2b, Version): set it, never over an owner's own,
 * and give it back when the pin goes.
 */
export function pinLock(pin: string | null, lock: string | null, held: HeldLock | null): LockChange | null {
  if (lock === null) return null;
  if (pin === null) return giveLockBack(lock, held);
  if (held === null) return lock === LATEST ? holdLock(pin, lock, held) : null;
  if (held.before !== LATEST) return giveLockBack(lock, held);
  if (lock === pin) return null;
  return lock === LATEST || held.ours.includes(lock) ? holdLock(pin, lock, held) : { act: 'forget' };
}

/** Why a pin is not at work; null when it is, or none is asked for. */
export function sayPinned(pin: string | null, lock: string | null): string | null {
  if (pin === null || lock === null || lock === LATEST || lock === pin) return null;
  return `settings.updates.version-lock is ${lock}, set by its owner: the group's pin ${pin} is not set over it`;
}
