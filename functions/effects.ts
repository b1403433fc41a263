/**
 * What must happen outside after a commit, derived from the state before and after. The commit stands whatever fails
 * here: timers are repaired by the due-time index, wakes by the answers to reports, gauges by the sweep.
 */
import type { EventEntry } from '../core/contract/answers.ts';
import type { Fact } from '../core/decision/fact.ts';
import { groupAlarmAt } from '../core/group/group.ts';
import type { Alarm } from '../core/decision/alarm.ts';
import { nodeAlarm } from '../core/node/timing.ts';
import { formatInstant } from '../core/kit/time.ts';
import { vmAlarm } from '../core/vm/timing.ts';
import type { AggregateKind, ControlPlane, Records, Ref } from './ports.ts';

export async function carryOut<K extends AggregateKind>(
  plane: ControlPlane,
  kind: K,
  before: Records[K] | null,
  next: Records[K],
  facts: readonly Fact[],
): Promise<void> {
  const ref = refOf(next);
  const attempts: [string, Promise<void>][] = [];
  const alarm = alarmOf(next);
  const armed = before === null ? null : alarmOf(before);
  const now = plane.now();
  if (alarm !== null && (armed === null || armed.at !== alarm.at || armed.retry !== alarm.retry)) {
    attempts.push(['arming its timer', plane.timers.arm(ref, keyOf(next), alarm.at, alarm.retry, now)]);
  }
  for (const fact of facts) {
    if (fact.kind === 'wake') {
      const { hostId, action, generation, decided } = fact;
      attempts.push([`waking ${hostId}`, plane.wakes.send({ ref, hostId, action, generation, decided }, now)]);
    }
    if (fact.kind === 'metric') plane.telemetry.metric(fact.name, fact.value, fact.group);
  }
  for (const version of versionsShown(before, next)) {
    attempts.push([`writing down when version ${version} was first seen`, plane.store.noteSeen(version, now)]);
  }
  const entries = publishable(kind, before, next);
  if (entries.length > 0) attempts.push(['publishing its events', plane.bus.publish(entries)]);
  const results = await Promise.allSettled(attempts.map(([, attempt]) => attempt));
  results.forEach((result, index) => {
    if (result.status === 'fulfilled') return;
    plane.telemetry.warn(
      `${attempts[index]?.[0] ?? 'an effect'} failed; it is repaired by the sweep or the next report`,
      {
        ref,
        error: String(result.reason),
      },
    );
  });
}

/** Versions that a node had not shown before: the age of each counts from the first node that did (DESIGN section 2b). */
function versionsShown(before: Records[AggregateKind] | null, next: Records[AggregateKind]): string[] {
  if (next.kind !== 'node') return [];
  const shown = (record: Records[AggregateKind] | null): (string | undefined)[] =>
    record?.kind === 'node' ? [record.status?.currentVersion, record.status?.updateCheck.version] : [];
  const known = shown(before);
  return [...new Set(shown(next))].flatMap((version) =>
    version === undefined || known.includes(version) ? [] : [version],
  );
}

/** The aggregate that a record is. */
export function refOf(record: Records[AggregateKind]): Ref {
  switch (record.kind) {
    case 'node':
      return { kind: 'node', id: record.nodeId };
    case 'vm':
      return { kind: 'vm', id: record.vmId };
    case 'group':
      return { kind: 'group', id: record.group };
  }
}

export function alarmOf(record: Records[AggregateKind]): Alarm | null {
  switch (record.kind) {
    case 'node':
      return nodeAlarm(record);
    case 'vm':
      return vmAlarm(record);
    case 'group': {
      const at = groupAlarmAt(record);
      return at === null ? null : { at, retry: true };
    }
  }
}

/** The generation or sequence in a timer's name, so that "already armed" means this very wait (DESIGN section 4). */
function keyOf(record: Records[AggregateKind]): number {
  switch (record.kind) {
    case 'node':
      return record.spec.generation;
    case 'vm':
      return record.power.sequence;
    case 'group':
      return 0;
  }
}

/** The events that this commit added to the record's own log. */
function publishable(
  kind: AggregateKind,
  before: Records[AggregateKind] | null,
  next: Records[AggregateKind],
): EventEntry[] {
  const known = new Set(before?.events.map((event) => event.id));
  const { id } = refOf(next);
  return next.events
    .filter((event) => !known.has(event.id))
    .map((event) => ({ ...event, at: formatInstant(event.at), subject: `${kind}/${id}` }));
}
