/** Wake-ups at instants of the wall clock, by key. Setting a key again replaces its wake-up. */
// @ts-nocheck

export interface Alarms {
  set(key: string, atMs: number, ring: () => void): void;
  readonly cancel: (key: string) => void;
  /** Cancels all; nothing rings afterwards. */
  readonly stop: () => void;
}

/** The longest wait before the clock is looked at again: a laptop that slept must notice what it missed. */
const LOOK_AGAIN_MS = 60_000;

/** Makes a set of wake-ups. None rings before its instant by `Date.now()`. */
export function createAlarms(): Alarms {
  const timers = new Map<string, NodeJS.Timeout>();
  let stopped = false;
  const arm = (key: string, atMs: number, ring: () => void): void => {
    const wait = Math.min(Math.max(0, atMs - Date.now()), LOOK_AGAIN_MS);
    const timer = setTimeout(() => {
      if (Date.now() < atMs) {
        arm(key, atMs, ring);
        return;
      }
      timers.delete(key);
      ring();
    }, Math.ceil(wait));
    timers.set(key, timer);
  };
  const cancel = (key: string): void => {
    clearTimeout(timers.get(key));
    timers.delete(key);
  };
  return {
    set: (key, atMs, ring) => {
      if (stopped) return;
      cancel(key);
      arm(key, atMs, ring);
    },
    cancel,
    stop: () => {
      stopped = true;
      for (const key of timers.keys()) cancel(key);
    },
  };
}
