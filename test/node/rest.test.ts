/** What a node at rest costs: its item stays small, and its place in the index of due times moves seldom (docs/cost.md). */
import { describe, expect, test } from 'vitest';
import type { LoggedEvent } from '../../core/decision/fact.ts';
import { nodeDueAt } from '../../core/node/timing.ts';
import { there } from '../kit/there.ts';
import { at, NODE, NodeLife } from './life.ts';

const MINUTE = 60;
const DAY = 24 * 3600;
const UP_TO_DATE = { updateCheck: { result: 'UpToDate' } } as const;

function resting(): NodeLife {
  const life = new NodeLife();
  life.report(UP_TO_DATE);
  return life;
}

/** Reports every 20 min, from the first to the last of these minutes. */
function reports(life: NodeLife, from: number, to: number): void {
  for (let minute = from; minute <= to; minute += 20) life.to(minute * MINUTE).report(UP_TO_DATE);
}

const events = (seconds: readonly number[]): LoggedEvent[] =>
  seconds.map((second) => ({
    id: `node/x/${second}`,
    at: at(second),
    type: 'Node Held',
    severity: 'info',
    message: '',
  }));

describe('its place among what is due', () => {
  test('moves with every second report that is written, and is never later than 90 min after the last of them', () => {
    const life = resting();
    const places: number[] = [];
    for (let minute = 0; minute <= 480; minute += 20) {
      if (minute > 0) life.to(minute * MINUTE).report(UP_TO_DATE);
      const place = there(nodeDueAt(life.node));
      const { reportedAt } = there(life.node.status);
      expect(place - reportedAt).toBeLessThanOrEqual(90 * MINUTE * 1000);
      expect(place).toBeGreaterThan(life.now);
      if (place !== places.at(-1)) places.push(place);
    }
    // 480 min are 12 reports that are written.
    expect(places).toHaveLength(7);
  });

  test('a node that falls silent is looked at early, and counted 90 min after its last report all the same', () => {
    const life = resting();
    reports(life, 20, 40);
    expect(nodeDueAt(life.node)).toBe(at(90 * MINUTE));
    life.to(90 * MINUTE).due();
    expect(life.node.silentSince).toBeNull();
    expect(nodeDueAt(life.node)).toBe(at(130 * MINUTE));
    life.to(130 * MINUTE).due();
    expect(life.node.silentSince).toBe(at(130 * MINUTE));
  });

  test('what a release before wrote has the place that it had, and moves on from it', () => {
    const life = resting();
    life.node = { ...life.node, silenceLookAt: at(1) };
    life.to(40 * MINUTE).report(UP_TO_DATE);
    expect(nodeDueAt(life.node)).toBe(at(130 * MINUTE));
    expect(life.node).not.toHaveProperty('silenceLookAt');
  });
});

describe('its past', () => {
  test('of events it keeps those of the last day, and three older ones', () => {
    const life = resting();
    life.to(3 * DAY);
    const kept = events([1, 2, 3, 2 * DAY + 10, 2 * DAY + 3600]);
    life.node = { ...life.node, events: [...events([0]), ...kept] };
    life.report(UP_TO_DATE);
    expect(life.node.events.map(({ id }) => id)).toEqual(
      [3, 2 * DAY + 10, 2 * DAY + 3600].map((second) => `node/x/${second}`),
    );
    life.node = { ...life.node, events: events([1, 2, 3, 3 * DAY, 3 * DAY + 1, 3 * DAY + 2, 3 * DAY + 3]) };
    life.to(3 * DAY + 2400).report(UP_TO_DATE);
    expect(life.node.events).toHaveLength(4);
  });

  test('of boots it keeps the last two: no report of an older one can still be on its way', () => {
    const life = resting();
    life.node = { ...life.node, previousBoots: ['a', 'b', 'c'] };
    life.to(31 * MINUTE).report(UP_TO_DATE);
    expect(life.node.previousBoots).toEqual(['b', 'c']);
  });

  test('with a crash on record, with other news or under way it keeps all', () => {
    const full = { events: events([1, 2, 3, 4, 5]), previousBoots: ['a', 'b', 'c'] };
    const crashed = resting();
    crashed.node = {
      ...crashed.node,
      ...full,
      crash: { ...crashed.node.crash, count: 1, firstAt: at(0), lastAt: at(0) },
    };
    crashed.to(2 * DAY).report(UP_TO_DATE);
    expect(crashed.node).toMatchObject(full);

    const news = resting();
    news.node = { ...news.node, ...full };
    news.to(2 * DAY).report({ updateCheck: { result: 'Failed' } });
    expect(news.node.events).toHaveLength(6);

    const underWay = new NodeLife();
    underWay.report();
    underWay.start();
    underWay.node = { ...underWay.node, ...full };
    underWay.to(40 * MINUTE).report({ state: 'Idle' });
    expect(underWay.node).toMatchObject({ nodeId: NODE, ...full });
  });
});
