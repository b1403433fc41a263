/** CloudWatch alarms that halt a group: what is heard, late, twice or not at all (DESIGN section 2b, Alarms). */
import { describe, expect, test } from 'vitest';
import { instant, seconds } from '../../core/kit/time.ts';
import { alarmsOf, hear, type HeardAlarms, ringing } from '../../core/rollout/alarm-states.ts';
import { parseAlarmEvent } from '../../functions/messages.ts';
import { askAlarms } from '../../functions/operations/alarms.ts';
import { readGroups } from '../../functions/operations/promotion.ts';
import { World } from '../../world/simulate/world.ts';
import { OPERATOR, nodeIdentity } from '../../world/environment.ts';

const START = instant(Date.UTC(2026, 0, 5));
const at = (second: number) => instant(START + seconds(second));
const NAMES = ['latency', 'errors'];

describe('what is known of alarms', () => {
  test.each<[string, HeardAlarms, HeardAlarms, HeardAlarms]>([
    [
      'the first word is kept',
      {},
      { latency: { state: 'ALARM', at: at(1) } },
      { latency: { state: 'ALARM', at: at(1) } },
    ],
    [
      'an older word changes nothing',
      { latency: { state: 'OK', at: at(5) } },
      { latency: { state: 'ALARM', at: at(4) } },
      { latency: { state: 'OK', at: at(5) } },
    ],
    [
      'a newer one does',
      { latency: { state: 'OK', at: at(5) } },
      { latency: { state: 'ALARM', at: at(6) } },
      { latency: { state: 'ALARM', at: at(6) } },
    ],
    [
      'one that is gone is Missing',
      { errors: { state: 'ALARM', at: at(5) } },
      { errors: { state: 'Missing', at: at(9) } },
      { errors: { state: 'Missing', at: at(9) } },
    ],
    ['what the policy does not name is forgotten', { other: { state: 'ALARM', at: at(5) } }, {}, {}],
    ['nor is news of it kept', {}, { other: { state: 'ALARM', at: at(5) } }, {}],
  ])('%s', (_what, known, news, after) => {
    expect(hear(NAMES, known, news)).toEqual(after);
  });

  test('the same word again is the same record, so that nothing is written', () => {
    const known: HeardAlarms = { latency: { state: 'ALARM', at: at(5) } };
    expect(hear(NAMES, known, { latency: { state: 'ALARM', at: at(500) } })).toBe(known);
  });

  test('only ALARM rings, and what was never heard of is Missing', () => {
    const heard: HeardAlarms = { errors: { state: 'OK', at: at(1) }, latency: { state: 'ALARM', at: at(1) } };
    expect(ringing([...NAMES, 'third'], heard)).toEqual(['latency']);
    expect(alarmsOf(['third', 'errors'], heard)).toEqual([
      { name: 'third', state: 'Missing' },
      { name: 'errors', state: 'OK' },
    ]);
  });
});

test.each([
  ['ALARM', 'ALARM'],
  ['OK', 'OK'],
  ['INSUFFICIENT_DATA', 'OK'],
])('an event that says %s is %s', (value, state) => {
  const event = {
    source: 'aws.cloudwatch',
    'detail-type': 'CloudWatch Alarm State Change',
    detail: { alarmName: 'latency', state: { value, timestamp: '2026-01-05T00:00:01.000+0000' } },
  };
  expect(parseAlarmEvent(event)).toEqual({ name: 'latency', state, at: at(1) });
  expect(parseAlarmEvent({ ...event, source: 'aws.ec2' })).toBeNull();
});

const NODE = 'i-0000000000000000a';
const IDLE = {
  state: 'Idle',
  bootId: 'b1',
  currentVersion: '1.0',
  updateCheck: { result: 'Available', version: '1.1' },
};
const world = async (policy: object): Promise<World> => {
  const made = new World({ start: START, seed: 1, timerLateness: 0 });
  await made.call('PUT', '/v1/groups/default', policy, OPERATOR);
  return made;
};
const report = (made: World) => made.call('POST', `/v1/nodes/${NODE}/reports`, IDLE, nodeIdentity(NODE));
const spec = async (made: World): Promise<unknown> =>
  (await made.call('GET', `/v1/nodes/${NODE}`, undefined, OPERATOR)).body;

describe('the sweep makes good a lost event', () => {
  const watching = (states: Record<string, 'OK' | 'ALARM'>) => ({
    states: (names: readonly string[]) =>
      Promise.resolve(
        new Map(names.flatMap((name) => (states[name] === undefined ? [] : [[name, states[name]] as const]))),
      ),
  });

  test('an alarm that began to ring is found, and one that is over lets the group go on', async () => {
    const made = await world({ haltOnAlarm: ['latency'] });
    await askAlarms(made.plane, watching({ latency: 'ALARM' }), (await readGroups(made.plane)).groups);
    await report(made);
    expect(await spec(made)).toMatchObject({ spec: { state: 'Idle' }, waitingFor: { code: 'AlarmRinging' } });
    const { body } = await made.call('GET', '/v1/summary', undefined, OPERATOR);
    expect(body).toMatchObject({ attention: [{ kind: 'group', id: 'default' }] });
    await made.runTo(at(10));
    await askAlarms(made.plane, watching({ latency: 'OK' }), (await readGroups(made.plane)).groups);
    await made.runTo(at(60));
    expect(await spec(made)).toMatchObject({ spec: { state: 'StagedUpdate' } });
  });

  test('an undeclared group listens by the policy of default', async () => {
    const made = await world({ haltOnAlarm: ['latency'] });
    await made.call(
      'POST',
      `/v1/nodes/${NODE}/reports`,
      { ...IDLE, updateCheck: { result: 'UpToDate' }, group: 'named' },
      nodeIdentity(NODE),
    );
    await made.alarm('latency', 'ALARM');
    await made.call('POST', `/v1/nodes/${NODE}/reports`, IDLE, nodeIdentity(NODE));
    expect(await spec(made)).toMatchObject({ group: 'named', waitingFor: { code: 'AlarmRinging' } });
  });

  test('CloudWatch is asked nothing where no group listens, and its silence changes nothing', async () => {
    const made = await world({});
    const never = { states: () => Promise.reject(new Error('asked')) };
    await expect(askAlarms(made.plane, never, (await readGroups(made.plane)).groups)).resolves.toBeUndefined();
    const listening = await world({ haltOnAlarm: ['latency'] });
    await listening.alarm('latency', 'ALARM');
    await expect(askAlarms(listening.plane, never, (await readGroups(listening.plane)).groups)).rejects.toThrow(
      'asked',
    );
    await report(listening);
    expect(await spec(listening)).toMatchObject({ waitingFor: { code: 'AlarmRinging' } });
  });

  test('an alarm that the policy names no longer halts nothing more', async () => {
    const made = await world({ haltOnAlarm: ['latency'] });
    await made.alarm('latency', 'ALARM');
    await report(made);
    await made.call('PUT', '/v1/groups/default', {}, OPERATOR);
    await made.runTo(at(60));
    expect(await spec(made)).toMatchObject({ spec: { state: 'StagedUpdate' } });
  });
});
