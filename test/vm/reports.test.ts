/** What a host's reports prove: phases, adoption, silence and fences; and what time brings (DESIGN section 3, rules 2, 5, 6, 8). */
import { describe, expect, test } from 'vitest';
import type { RunStrategy } from '../../core/contract/words.ts';
import { seconds } from '../../core/kit/time.ts';
import {
  at,
  declared,
  edit,
  editInstance,
  facts,
  HOST,
  id,
  instance,
  note,
  OTHER_HOST,
  running,
  said,
  VmLife,
  boots,
} from './scene.ts';

describe('phases', () => {
  test('Pending changes nothing', () => {
    const life = declared('Always');
    expect(facts(life, () => life.report('Pending'))).toEqual([]);
    expect(instance(life).phase).toBe('Pending');
  });

  test('Scheduled, or the launch definition fetched, is taken on: nobody wakes the host for it again', () => {
    const life = declared('Always');
    life.wait(3);
    expect(facts(life, () => life.report('Scheduled'))).toEqual([]);
    expect(instance(life)).toMatchObject({
      phase: 'Scheduled',
      since: at(3),
      startDeadlineAt: at(303),
      nextWakeAt: null,
    });
    life.wait(4);
    life.report('Scheduled');
    expect(instance(life).since).toBe(at(3));
    const fetched = declared('Always');
    fetched.send({ kind: 'launchFetched', instanceId: 'another' });
    expect(instance(fetched).phase).toBe('Pending');
    fetched.send({ kind: 'launchFetched', instanceId: fetched.instanceId });
    expect(instance(fetched).phase).toBe('Scheduled');
    const ended = declared('Manual');
    ended.start();
    ended.report('Succeeded');
    expect(facts(ended, () => ended.send({ kind: 'launchFetched', instanceId: ended.instanceId }))).toEqual([]);
    expect(instance(ended).phase).toBe('Succeeded');
  });

  test.each(['stopped', 'timed out'])(
    'Scheduled of an instance that was %s sets no deadline and keeps the wakes',
    (how) => {
      const life = declared('Always');
      if (how === 'stopped') life.stop();
      else editInstance(life, { timedOutAt: at(0) });
      life.report('Scheduled');
      expect(instance(life)).toMatchObject({ phase: 'Scheduled', startDeadlineAt: null, nextWakeAt: at(60) });
    },
  );

  test('Running is noted, and again it is not', () => {
    const life = declared('Always');
    life.wait(3);
    expect(facts(life, () => life.report('Running'))).toEqual([
      note('VM Running', `instance ${life.instanceId} is Running`),
    ]);
    expect(instance(life)).toMatchObject({
      phase: 'Running',
      since: at(3),
      everRunning: true,
      runningSince: at(3),
      startDeadlineAt: null,
      nextWakeAt: null,
    });
    life.wait(5);
    const before = life.vm;
    life.report('Running');
    expect(life.vm).toBe(before);
    life.report('Scheduled');
    expect(life.vm).toBe(before);
  });

  test('Running after start failures is a recovery', () => {
    const life = declared('Always');
    life.failEarly();
    life.wait(13);
    expect(said(life, () => life.report('Running'))).toEqual(['VM Recovered: Running after 1 start failures']);
    expect(life.vm.startFailure).toBeNull();
  });

  test('Running of an instance that is to end keeps its wakes', () => {
    const life = declared('Always');
    life.stop();
    life.report('Running');
    expect(instance(life)).toMatchObject({ phase: 'Running', nextWakeAt: at(60) });
  });

  test('a report of another declaration, of another instance or after the end changes nothing', () => {
    const life = running('Always');
    const before = life.vm;
    life.report('Failed', { uid: 'another' });
    life.report('Failed', { instanceId: 'another' });
    expect(life.vm).toBe(before);
    life.report('Failed', { uid: life.vm.uid });
    const ended = life.vm;
    expect(instance(life).phase).toBe('Failed');
    life.report('Running');
    expect(life.vm).toBe(ended);
  });
});

describe('adoption', () => {
  test('makes what the host runs the VM’s instance, in place of one that was not picked up', () => {
    const life = declared('Always');
    const ours = life.instanceId;
    life.wait(2);
    const events = facts(life, () => life.report('Running', { instanceId: 'found-1' }));
    expect(life.vm).toMatchObject({ previousInstances: [ours], pendingStart: null, power: { on: true, sequence: 0 } });
    expect(life.vm.instance).toEqual({
      instanceId: 'found-1',
      phase: 'Running',
      since: at(2),
      createdAt: at(2),
      everRunning: true,
      runningSince: at(2),
      takenOnAt: at(2),
      askHostAt: null,
      cause: null,
      stop: null,
      startDeadlineAt: null,
      timedOutAt: null,
      nextWakeAt: null,
      wakesRepeated: 0,
    });
    expect(events).toEqual([
      note('VM Adopted', 'instance found-1 was already running on its host and is adopted'),
      note('VM Running', 'instance found-1 is Running'),
    ]);
  });

  test.each<[RunStrategy, boolean]>([
    ['Manual', false],
    ['Halted', true],
  ])('under %s switches power on, or tells it to end: %s', (strategy, ends) => {
    const life = declared(strategy, { grace: '40s' });
    life.report('Scheduled', { instanceId: 'found-1' });
    expect(life.vm.power.on).toBe(!ends);
    expect(instance(life)).toMatchObject({ instanceId: 'found-1', stop: ends ? { at: at(0), grace: 40_000 } : null });
    expect(life.vm.previousInstances).toEqual([]);
  });

  test('remembers no more than the last 16 instances', () => {
    const life = declared('Always');
    edit(life, { previousInstances: Array.from({ length: 16 }, (_, n) => id(`old-${n}`)) });
    life.report('Pending', { instanceId: 'found-1' });
    expect(instance(life)).toMatchObject({ instanceId: 'found-1', phase: 'Pending' });
    expect(life.vm.previousInstances).toHaveLength(16);
    expect(life.vm.previousInstances.at(-1)).not.toBe('old-15');
  });

  test.each<[string, (life: VmLife) => unknown]>([
    ['a phase that is final', (life) => life.report('Failed', { instanceId: 'found-1' })],
    ['the other phase that is final', (life) => life.report('Succeeded', { instanceId: 'found-1' })],
    [
      'an instance that was taken on',
      (life) => {
        life.report('Scheduled');
        life.report('Running', { instanceId: 'found-1' });
      },
    ],
    [
      'an instance that is told to end',
      (life) => {
        editInstance(life, { stop: { at: at(0), grace: seconds(5) } });
        life.report('Running', { instanceId: 'found-1' });
      },
    ],
    [
      'an instance before this one',
      (life) => {
        edit(life, { previousInstances: [id('found-1')] });
        life.report('Running', { instanceId: 'found-1' });
      },
    ],
    [
      'a VM that has had an instance of its own',
      (life) => {
        edit(life, { previousInstances: [id(`${life.vm.uid.slice(0, 8)}-1`)] });
        life.report('Running', { instanceId: 'found-1' });
      },
    ],
    [
      'a stop before it',
      (life) => {
        edit(life, { lastVerb: 'stop' });
        life.report('Running', { instanceId: 'found-1' });
      },
    ],
    [
      'a delete before it',
      (life) => {
        edit(life, { deleting: { at: at(0), deadlineAt: at(9) } });
        life.report('Running', { instanceId: 'found-1' });
      },
    ],
  ])('does not follow %s', (_what, act) => {
    const life = declared('Always');
    const ours = life.instanceId;
    act(life);
    expect(life.instanceId).toBe(ours);
    expect(life.events('VM Adopted')).toEqual([]);
  });

  test('follows instances of an earlier declaration', () => {
    const life = edit(declared('Manual'), { previousInstances: [id('old-1')] });
    life.report('Running', { instanceId: 'found-1' });
    expect(life.instanceId).toBe('found-1');
  });
});

describe('a silent host', () => {
  const silent = (life: VmLife, hostId = HOST) => life.send({ kind: 'hostSilent', hostId });

  test('makes an instance that it took on Unknown, and nothing else', () => {
    const life = running('Always');
    life.wait(9);
    const events = facts(life, () => silent(life));
    expect(instance(life)).toMatchObject({ phase: 'Unknown', since: at(9), everRunning: true });
    expect(life.vm.pendingStart).toBeNull();
    expect(events).toEqual([
      note(
        'VM Instance Unknown',
        `host ${HOST} is silent: nothing is known of instance ${life.instanceId}, and nothing is counted or started elsewhere`,
        'warning',
      ),
    ]);
    expect(facts(life, () => silent(life))).toEqual([]);
  });

  test('says nothing about an instance that was not picked up, that ended, or that is of another host', () => {
    const pending = declared('Always');
    silent(pending);
    expect(instance(pending).phase).toBe('Pending');
    const ended = running('Manual');
    ended.report('Succeeded');
    silent(ended);
    expect(instance(ended).phase).toBe('Succeeded');
    const other = running('Always');
    silent(other, OTHER_HOST);
    expect(instance(other).phase).toBe('Running');
    const off = declared('Manual');
    expect(facts(off, () => silent(off))).toEqual([]);
  });

  test('that speaks again says what it is: Running since before without a word, or still starting', () => {
    const life = running('Always');
    silent(life);
    life.wait(5);
    expect(facts(life, () => life.report('Running'))).toEqual([]);
    expect(instance(life)).toMatchObject({ phase: 'Running', since: at(5), runningSince: at(0) });
    silent(life);
    life.report('Scheduled');
    expect(instance(life).phase).toBe('Unknown');
    const starting = declared('Always');
    starting.report('Scheduled');
    silent(starting);
    starting.wait(5);
    expect(facts(starting, () => starting.report('Scheduled'))).toEqual([]);
    expect(instance(starting)).toMatchObject({ phase: 'Scheduled', since: at(5), startDeadlineAt: at(300) });
  });
});

describe('a fenced host', () => {
  const fenced = (life: VmLife, hostId = HOST) => life.send({ kind: 'hostFenced', hostId, at: life.now });

  test('has ended what it ran: uncounted, and the next instance starts once the host is back', () => {
    const life = running('Always');
    const first = life.instanceId;
    const events = said(life, () => fenced(life));
    expect(events[0]).toBe(`VM Ended: instance ${first} Failed: HostLost: host ${HOST} was fenced`);
    expect(events[1]).toBeUndefined();
    expect(life.vm).toMatchObject({ startFailure: null, unstableRuns: null, lastFailure: null });
    boots(life);
    expect(life.instanceId).not.toBe(first);
  });

  test('has ended what was to be stopped, and what it had not picked up, which is owed', () => {
    const stopped = declared('Always');
    stopped.stop();
    fenced(stopped);
    expect(instance(stopped)).toMatchObject({ phase: 'Failed', cause: 'Requested' });
    const pending = declared('Always');
    expect(said(pending, () => fenced(pending))).toEqual([expect.stringContaining('HostLost')]);
    expect(pending.vm.pendingStart).not.toBeNull();
    const other = running('Always');
    expect(facts(other, () => fenced(other, OTHER_HOST))).toEqual([]);
    const ended = running('Manual');
    ended.report('Succeeded');
    expect(facts(ended, () => fenced(ended))).toEqual([]);
    const off = declared('Manual');
    expect(facts(off, () => fenced(off))).toEqual([]);
  });
});
