import { describe, expect, test } from 'vitest';
import type { VmId } from '../../core/kit/ids.ts';
import { parseVmId } from '../../core/kit/ids.ts';
import { after, type Instant, milliseconds } from '../../core/kit/time.ts';
import type { ControlPlane } from '../../functions/ports.ts';
import { ContentionError, standBack, turn } from '../../functions/turn.ts';
import { seededDraws } from '../../world/random.ts';
import { exec, Scene, START } from './scene.ts';

/** A clock of its own, on which each read and each write of the table takes some milliseconds, as they do. */
class Crowd {
  readonly scene = new Scene();
  readonly #draw = seededDraws(7);
  #now = 0;
  readonly #sleeping: { until: number; wake: () => void }[] = [];

  get seconds(): number {
    return this.#now / 1000;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#sleeping.push({ until: this.#now + ms, wake }));
  }

  plane(): ControlPlane {
    const { plane } = this.scene.world;
    const { store } = plane;
    const takes = (): Promise<void> => this.sleep(3 + Math.floor(this.#draw().delay * 12));
    return {
      ...plane,
      now: (): Instant => after(START, milliseconds(this.#now)),
      draw: this.#draw,
      pause: (ms) => this.sleep(ms),
      store: Object.assign(Object.create(store) as typeof store, {
        load: async (...args: Parameters<typeof store.load>) => {
          await takes();
          return store.load(...args);
        },
        save: async (...args: Parameters<typeof store.save>) => {
          await takes();
          return store.save(...args);
        },
      }),
    };
  }

  /** Lets the clock go on until everybody has been answered. */
  async settle<T>(work: readonly Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
    let ended = false;
    const all = Promise.allSettled(work).finally(() => (ended = true));
    while (!ended) {
      await new Promise((next) => setImmediate(next));
      const next = this.#sleeping.sort((a, b) => a.until - b.until).shift();
      if (next === undefined) continue;
      this.#now = Math.max(this.#now, next.until);
      next.wake();
    }
    return all;
  }
}

const WEB: VmId | null = parseVmId('web');

describe('a hundred callers at one item', () => {
  test.each([50, 100])('%i of them are all served within a request’s time', async (callers) => {
    const crowd = new Crowd();
    await crowd.scene.operator('PUT', '/v1/vms/web', exec('Manual'));
    const plane = crowd.plane();
    if (WEB === null) throw new Error('web is a name');
    const id = WEB;
    const work = Array.from({ length: callers }, () =>
      turn(plane, 'vm', id, (vm) =>
        vm === null
          ? { kind: 'unchanged' }
          : {
              kind: 'changed',
              next: { ...vm, revision: vm.revision + 1, restartCount: vm.restartCount + 1 },
              facts: [],
            },
      ),
    );
    const ends = await crowd.settle(work);
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await crowd.scene.seen('vms', 'web', 'restartCount')).toBe(callers);
    expect(crowd.seconds).toBeLessThan(12);
  });

  test('who loses for ever is told to try again, and nothing was changed', async () => {
    const crowd = new Crowd();
    await crowd.scene.operator('PUT', '/v1/vms/web', exec('Manual'));
    const plane = crowd.plane();
    if (WEB === null) throw new Error('web is a name');
    const lost = Object.assign(Object.create(plane.store) as typeof plane.store, {
      save: () => Promise.resolve(false),
    });
    const work = turn({ ...plane, store: lost }, 'vm', WEB, (vm) =>
      vm === null ? { kind: 'unchanged' } : { kind: 'changed', next: { ...vm, revision: vm.revision + 1 }, facts: [] },
    );
    const [end] = await crowd.settle([work]);
    expect(end).toMatchObject({ status: 'rejected', reason: expect.any(ContentionError) });
    expect(crowd.seconds).toBeLessThan(12);
  });
});

test('who has waited long comes back sooner than who has just lost a few times', () => {
  expect(standBack(6, 4_000, 0.999)).toBeLessThan(standBack(6, 500, 0.999));
  expect(standBack(1, 0, 0.999)).toBeLessThan(standBack(5, 500, 0.999));
});
