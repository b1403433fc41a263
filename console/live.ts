/** Looks again and again while somebody looks at the page, and says when nobody answers. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { instant, type Instant } from '../core/kit/time.ts';
import { waitMs, type Pace } from './pace.ts';
import { Refused } from './session.ts';

export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live'; readonly at: Instant }
  | { readonly kind: 'lost'; readonly since: Instant; readonly why: string; readonly locked: boolean };

export const wallNow = (): Instant => instant(Date.now());

/** Told anew each second: what counts down does so by it. */
export const now = signal<Instant>(wallNow());
setInterval(() => {
  now.value = wallNow();
}, 1000);

export const connection = signal<Connection>({ kind: 'connecting' });

function isLive(): void {
  connection.value = { kind: 'live', at: wallNow() };
}

/** A refusal is an answer: only silence, and a server that does not know this page, are a loss. */
function isLost(error: unknown): boolean {
  if (error instanceof Refused && error.code !== 'TokenNeeded' && error.status < 500) {
    isLive();
    return false;
  }
  const before = connection.value;
  connection.value = {
    kind: 'lost',
    since: before.kind === 'lost' ? before.since : wallNow(),
    why: error instanceof Error ? error.message : String(error),
    locked: error instanceof Refused && error.code === 'TokenNeeded',
  };
  return true;
}

/** What a look found: how fast things move there, and how many pages it took. */
export type Look = (isCurrent: () => boolean) => Promise<Pick<Pace, 'moving' | 'pages'>>;

/** Looks until it is stopped; sleeps while the page is hidden. `again` looks at once. */
export function keepLooking(look: Look, failed: (error: unknown) => void): { stop: () => void; again: () => void } {
  let stopped = false;
  let failures = 0;
  let wake: (() => void) | null = null;
  const again = (): void => wake?.();
  const onShow = (): void => {
    if (!document.hidden) again();
  };
  document.addEventListener('visibilitychange', onShow);
  const sleep = (ms: number): Promise<void> =>
    new Promise((done) => {
      const timer = setTimeout(() => (document.hidden ? undefined : done()), ms);
      wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  const run = async (): Promise<void> => {
    while (!stopped) {
      let found: Pick<Pace, 'moving' | 'pages'> = { moving: false, pages: 1 };
      try {
        found = await look(() => !stopped);
        failures = 0;
        if (!stopped) isLive();
      } catch (error) {
        if (stopped) return;
        failures = isLost(error) ? failures + 1 : 0;
        failed(error);
      }
      await sleep(waitMs({ ...found, failures }));
    }
  };
  void run();
  return {
    again,
    stop: () => {
      stopped = true;
      document.removeEventListener('visibilitychange', onShow);
      again();
    },
  };
}

/** Those that a page has going: a verb's success looks at once. */
const going = new Set<() => void>();
export const lookAgain = (): void => {
  for (const again of going) again();
};

/** Keeps looking while the component is there; anew when `key` changes. */
export function useLive(key: string, look: Look, failed: (error: unknown) => void): void {
  useEffect(() => {
    const { stop, again } = keepLooking(look, failed);
    going.add(again);
    return () => {
      going.delete(again);
      stop();
    };
  }, [key]);
}
