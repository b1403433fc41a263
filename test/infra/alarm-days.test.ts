/**
 * Days of metrics, played through every alarm as it is in the template: it rings when a person is needed, within the time
 * that its own text says, and at no other time.
 */
import { describe, expect, test } from 'vitest';
import { type Alarm, alarmsOf, day, DAYS, MINUTE, promised, rings, TROUBLE } from './alarm-days.ts';

const alarms = alarmsOf();
const alarmNamed = (name: string): Alarm => alarms.get(name) ?? expect.fail(`there is no alarm ${name}`);

describe('each alarm', { timeout: 60_000 }, () => {
  test('has its days here', () => {
    expect(Object.keys(DAYS).toSorted()).toEqual([...alarms.keys()].toSorted());
  });

  test.each(Object.entries(DAYS))('%s rings once, within the time that it says', (name, { metric, bad }) => {
    const alarm = alarmNamed(name);
    const [first, ...more] = rings(alarm, day(metric, bad));
    const within = promised(alarm) * MINUTE;
    expect(first).toBeGreaterThan(TROUBLE);
    expect((first ?? Infinity) - TROUBLE).toBeLessThanOrEqual(within);
    expect(more).toEqual([]);
  });

  test.each(Object.entries(DAYS))('%s is silent on a day when nobody is needed', (name, { metric, calm }) => {
    expect(rings(alarmNamed(name), day(metric, calm))).toEqual([]);
  });
});
