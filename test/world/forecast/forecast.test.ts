/** What a rollout will do: the control plane on virtual time, with nodes that take their time (DESIGN section 2b). */
import { describe, expect, test } from 'vitest';
import { parseNodeId } from '../../../core/kit/ids.ts';
import { days, hours, instant, minutes, parseInstant } from '../../../core/kit/time.ts';
import { NO_CRASH } from '../../../core/node/record.ts';
import type { ForecastNode } from '../../../world/forecast/fleet.ts';
import { forecast, type ForecastOptions } from '../../../world/forecast/forecast.ts';
import { byHour } from '../../../world/hour-table.ts';
import { costliest, forecastJson, forecastText } from '../../../world/forecast/print.ts';
import { forecastSvg } from '../../../world/forecast/svg.ts';

const START = instant(Date.UTC(2026, 0, 5));
const PACE = { attempt: minutes(6), failing: 0, learntFrom: 0 };

function nodeIdOf(text: string): ForecastNode['nodeId'] {
  const nodeId = parseNodeId(text);
  if (nodeId === null) throw new Error(`${text} is no node id`);
  return nodeId;
}

function nodes(group: string, count: number, changes: Partial<ForecastNode> = {}): ForecastNode[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `${Buffer.from(group).toString('hex').slice(0, 8)}${index.toString(16)}`.padStart(17, '0');
    return {
      nodeId: nodeIdOf(`i-${name}`),
      group,
      zone: null,
      currentVersion: '1.20.0',
      offered: '1.21.0',
      crash: NO_CRASH,
      blockedVersions: [],
      held: false,
      answers: true,
      ...changes,
    };
  });
}

const run = (given: Partial<ForecastOptions> & Pick<ForecastOptions, 'fleet'>) =>
  forecast({ pace: PACE, start: START, length: days(2), seed: 1, ...given });

describe('a rollout', () => {
  test('goes group by group inside its windows, never above its limits', async () => {
    const found = await run({
      fleet: {
        nodes: [...nodes('web', 8), ...nodes('canary', 2)],
        groups: {
          web: {
            maxConcurrentUpdates: '50%',
            after: { group: 'canary', soak: '1h' },
            windows: [{ cron: '0 6 * * *', duration: '1h' }],
          },
          canary: { maxConcurrentUpdates: 1 },
        },
        paused: [],
      },
    });
    const { web, canary } = found.groups;
    expect(canary).toMatchObject({ nodes: 2, limit: 1, most: 1 });
    expect(web).toMatchObject({ nodes: 8, limit: 4, most: 4 });
    const [canaryDone, webDone] = [canary?.doneAt ?? 0, web?.doneAt ?? 0];
    expect(canaryDone).toBeGreaterThan(START);
    expect(canaryDone).toBeLessThan(START + hours(1));
    expect(webDone).toBeGreaterThan(START + hours(6));
    expect(webDone).toBeLessThan(START + hours(7.5));
    expect(found).toMatchObject({ nodes: 10, updated: 10, crashes: 0 });
    const early = found.rows.filter(({ at }) => at < START + hours(6)).map(({ groups }) => groups['web']);
    expect(early.length).toBeGreaterThan(30);
    expect(early.filter((standing) => standing?.done !== 0 || standing.underWay !== 0)).toEqual([]);
  });

  test('leaves held, unreachable and paused nodes where they are, and says what they wait for', async () => {
    const found = await run({
      length: hours(4),
      fleet: {
        nodes: [...nodes('held', 1, { held: true }), ...nodes('gone', 1, { answers: false }), ...nodes('still', 1)],
        groups: {},
        paused: ['still'],
      },
    });
    expect(found.updated).toBe(0);
    const last = found.rows.at(-1)?.groups ?? {};
    expect(last['held']?.waiting).toEqual({ Held: 1 });
    expect(last['still']?.waiting).toEqual({ Paused: 1 });
    expect(last['gone']).toMatchObject({ done: 0, underWay: 0 });
    expect(Object.values(found.groups).map(({ doneAt }) => doneAt)).toEqual([null, null, null]);
  });

  test('begins with the records that there are: who waits after a crash goes on waiting', async () => {
    const retryAfter = instant(START + hours(3));
    const crash = { ...NO_CRASH, count: 12, firstAt: START, lastAt: START, retryAfter };
    const found = await run({ fleet: { nodes: nodes('web', 1, { crash }), groups: {}, paused: [] } });
    expect(found.groups['web']?.doneAt).toBeGreaterThan(START + hours(3));
    expect(found.groups['web']?.waited.BackingOff).toBeGreaterThan(2.5);
  });

  test('counts attempts that fail, and they are waited out', async () => {
    const found = await run({
      pace: { ...PACE, failing: 0.4 },
      fleet: { nodes: nodes('web', 10), groups: { web: { maxConcurrentUpdates: 5 } }, paused: [] },
    });
    expect(found.crashes).toBeGreaterThan(0);
    expect(found.updated).toBe(10);
  });

  test('is the same each time', async () => {
    const once = () =>
      run({ pace: { ...PACE, failing: 0.3 }, fleet: { nodes: nodes('web', 6), groups: {}, paused: [] } });
    expect(await once()).toEqual(await once());
  });

  test('with a policy that would be refused is refused, with its reason', async () => {
    const fleet = { nodes: nodes('web', 1), groups: { web: { maxConcurrentUpdates: 0 } }, paused: [] };
    await expect(run({ fleet })).rejects.toThrow(/^groups\.web: .*maxConcurrentUpdates/);
  });
});

describe('what is printed', () => {
  const fleet = {
    nodes: nodes('web', 3),
    groups: { web: { windows: [{ cron: '0 2 * * *', duration: '1h' }] } },
    paused: [],
  };

  test('is a table by hour, when it is done, and what costs most time', async () => {
    const found = await run({ fleet });
    const text = forecastText(found, PACE);
    expect(byHour(found.rows).length).toBeLessThan(found.rows.length);
    expect(text).toMatch(
      /^A forecast for 3 nodes from 2026-01-05 00:00 to 2026-01-07 00:00 UTC.*nothing is changed\.$/m,
    );
    expect(text).toMatch(/^hour \(UTC\) +group +done +under way +waiting +for what$/m);
    expect(text).toMatch(/^2026-01-05 00:\d\d +web +0 +0 +3 +3 OutsideWindow$/m);
    expect(text).toMatch(/^web: all of its 3 nodes are done by 2026-01-05 02:\d\d.*at most 1 of 1 at once/m);
    expect(text).toContain('for OutsideWindow (windows and freezes).');
    expect(costliest(found)).toMatchObject({ group: 'web', code: 'OutsideWindow' });
    const json = JSON.parse(JSON.stringify(forecastJson(found, PACE))) as { groups: { web: { doneAt: string } } };
    expect(parseInstant(json.groups.web.doneAt)).toBe(found.groups['web']?.doneAt);
  });

  test('as a drawing says for whom it is, and texts cannot become markup', async () => {
    const svg = forecastSvg(await run({ fleet }), '3 nodes <b>');
    expect(svg).toContain('aria-label="3 nodes &lt;b&gt;"');
    expect(svg).not.toContain('<b>');
    expect(svg.match(/<path /g)).toHaveLength(3);
    expect(svg).not.toContain('NaN');
  });
});
