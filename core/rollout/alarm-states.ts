/** The CloudWatch alarms that a group listens to, as they were last heard of (DESIGN section 2b, Alarms). */
import type { Instant } from '../kit/time.ts';

/** `Missing`: CloudWatch has no alarm of that name, or has not been asked yet; it halts nothing. */
export const ALARM_STATES = ['OK', 'ALARM', 'Missing'] as const;
export type AlarmState = (typeof ALARM_STATES)[number];

/** Since when it is so, by CloudWatch's clock where it told it. */
export type HeardAlarm = { state: AlarmState; at: Instant };
export type HeardAlarms = Readonly<Record<string, HeardAlarm>>;

/** In the order of the policy; what was never heard of is Missing. */
export const alarmsOf = (names: readonly string[], heard: HeardAlarms = {}): { name: string; state: AlarmState }[] =>
  names.map((name) => ({ name, state: heard[name]?.state ?? 'Missing' }));

export const ringing = (names: readonly string[], heard: HeardAlarms = {}): string[] =>
  names.filter((name) => heard[name]?.state === 'ALARM');

/**
 * What is known after something was heard: an older word changes nothing, and what the policy no longer names is
 * forgotten. The same object when nothing is new.
 */
export function hear(names: readonly string[], heard: HeardAlarms, news: HeardAlarms): HeardAlarms {
  const entries = names.flatMap((name): [string, HeardAlarm][] => {
    const [was, is] = [heard[name], news[name]];
    const latest = is === undefined || (was !== undefined && (was.at > is.at || was.state === is.state)) ? was : is;
    return latest === undefined ? [] : [[name, latest]];
  });
  const next = Object.fromEntries(entries);
  return JSON.stringify(next) === JSON.stringify(heard) ? heard : next;
}
