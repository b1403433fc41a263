/** A forecast for people: a table by hour, then for each group when it is done, what it waits for, and what costs most. */
import type { WaitingCode } from '../../core/contract/words.ts';
import { formatInstant, milliseconds, sayDuration } from '../../core/kit/time.ts';
import { dayAndTime, hourTable } from '../hour-table.ts';
import { codesOf } from '../standing.ts';
import type { Forecast, GroupForecast } from './forecast.ts';
import type { Pace } from './pace.ts';

/** What of a policy, or of the fleet, each wait comes from. */
const COMES_FROM: Readonly<Record<WaitingCode, string>> = {
  Held: 'nodes that a person holds',
  GaveUp: 'backoff.giveUpAfter',
  BackingOff: 'the back-off after crashes',
  VersionNotAllowed: 'version.pin, skip and allowDowngrade',
  VersionBlocked: 'versions that were rolled back on a node',
  BreakerOpen: 'the breaker, until a person closes it',
  VersionTooYoung: 'version.minVersionAge',
  WaitsForGroup: 'after: the other group and its soak',
  Paused: 'the pause of the group',
  AlarmRinging: 'haltOnAlarm',
  OutsideWindow: 'windows and freezes',
  OtherZone: 'spread over zones',
  TooManyDown: 'maxUnavailable',
  VmBlocksMaintenance: 'VMs with maintenance: "block"',
  NoSlot: 'maxConcurrentUpdates',
};

const round = (given: number): string => (given < 10 ? given.toFixed(1) : String(Math.round(given)));

function groupText(name: string, group: GroupForecast, { start, end }: Forecast): string {
  const { nodes, limit, most, doneAt, waited } = group;
  const many = `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
  const done =
    doneAt === null
      ? `not all of its ${many} are done by ${dayAndTime(end)}`
      : `all of its ${many} are done by ${dayAndTime(doneAt)}, after ${sayDuration(milliseconds(doneAt - start))}`;
  const used = limit === null ? `at most ${most} at once, without a limit` : `at most ${most} of ${limit} at once`;
  const waits = codesOf(waited)
    .filter(([, hours]) => hours >= 0.05)
    .sort((a, b) => b[1] - a[1])
    .map(([code, hours]) => `${round(hours)} for ${code}`);
  return `${name}: ${done}; ${used}; node-hours waited: ${waits.length === 0 ? 'none' : waits.join(', ')}.`;
}

/** The one limit for which most node-hours are waited; null: nothing is waited for. */
export function costliest({ groups }: Forecast): { group: string; code: WaitingCode; nodeHours: number } | null {
  const all = Object.entries(groups).flatMap(([group, { waited }]) =>
    codesOf(waited).map(([code, nodeHours]) => ({ group, code, nodeHours })),
  );
  const [first] = all.sort((a, b) => b.nodeHours - a.nodeHours);
  return first === undefined || first.nodeHours < 0.05 ? null : first;
}

export function forecastText(found: Forecast, pace: Pace): string {
  const { rows, groups, nodes, updated, crashes, start, end } = found;
  const most = costliest(found);
  const source =
    pace.learntFrom === 0
      ? 'supposed or given, since the log has none'
      : `as ${pace.learntFrom} ${pace.learntFrom === 1 ? 'attempt' : 'attempts'} of the log went`;
  return [
    `A forecast for ${nodes} nodes from ${dayAndTime(start)} to ${dayAndTime(end)} UTC, on a virtual clock: nothing is changed.`,
    `An attempt takes ${sayDuration(pace.attempt)} and the soak time; ${round(pace.failing * 100)} % of them fail (${source}).`,
    '',
    ...hourTable(rows),
    '',
    ...Object.entries(groups).map(([name, group]) => groupText(name, group, found)),
    `${updated} of ${nodes} nodes have nothing more to take; ${crashes} ${crashes === 1 ? 'crash' : 'crashes'} on the way.`,
    most === null
      ? 'No limit costs any time.'
      : `What costs most time: ${round(most.nodeHours)} node-hours in ${most.group} for ${most.code} (${COMES_FROM[most.code]}).`,
  ].join('\n');
}

/** The same for a program. */
export function forecastJson(found: Forecast, pace: Pace): object {
  const { rows, groups, ...rest } = found;
  return {
    ...rest,
    start: formatInstant(found.start),
    end: formatInstant(found.end),
    pace: { attemptSeconds: pace.attempt / 1000, failing: pace.failing, learntFrom: pace.learntFrom },
    groups: Object.fromEntries(
      Object.entries(groups).map(([name, group]) => [
        name,
        { ...group, doneAt: group.doneAt === null ? null : formatInstant(group.doneAt) },
      ]),
    ),
    costliest: costliest(found),
    rows: rows.map(({ at, groups: standing }) => ({ at: formatInstant(at), groups: standing })),
  };
}
