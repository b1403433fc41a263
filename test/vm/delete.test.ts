/** Delete: accepted in every state; the record goes once the instance is known ended, or at once by force (DESIGN section 3, rule 8). */
import { describe, expect, test } from 'vitest';
import { seconds } from '../../core/kit/time.ts';
import { at, declared, facts, note, refused, running, said, wake } from './scene.ts';

describe('delete', () => {
  test('of a VM without an instance removes it at once', () => {
    const life = declared('Manual');
    expect(said(life, () => life.send({ kind: 'delete', force: false }))).toEqual([
      'VM Delete Requested: deleted by an operator',
      'VM Removed: deleted: no instance of it is left',
    ]);
    expect(life.vm).toMatchObject({ removed: { at: at(0) }, pendingStart: null, power: { on: false } });
    expect(refused(life, { kind: 'start' })).toEqual({
      status: 404,
      code: 'VmNotFound',
      detail: 'there is no VM web',
    });
  });

  test('of one in back-off drops what is planned and what was counted', () => {
    const life = declared('Always');
    life.failEarly();
    life.send({ kind: 'delete', force: false });
    expect(life.vm).toMatchObject({ removed: { at: at(0) }, pendingStart: null, startFailure: null });
  });

  test('of a live instance tells it to end, names its blocker 5 min after the grace, and ends with it', () => {
    const life = running('Always', { grace: '40s' });
    const events = facts(life, () => life.send({ kind: 'delete', force: false }));
    expect(life.vm).toMatchObject({
      deleting: { at: at(0), deadlineAt: at(340) },
      removed: null,
      pendingStart: null,
      lastVerb: 'stop',
      instance: { stop: { at: at(0), grace: seconds(40) } },
    });
    expect(events).toEqual([note('VM Delete Requested', 'deleted by an operator'), wake('StopInstance')]);
    life.wait(3);
    const before = life.vm;
    expect(facts(life, () => life.send({ kind: 'delete', force: false }))).toEqual([]);
    expect(life.vm).toBe(before);
    expect(said(life, () => life.report('Failed'))).toContain('VM Removed: deleted: no instance of it is left');
    expect(life.vm.removed).toEqual({ at: at(3) });
  });

  test('by force takes the instance for ended, and says what that gives up', () => {
    const life = running('Always');
    const events = facts(life, () => life.send({ kind: 'delete', force: true }));
    expect(life.vm).toMatchObject({
      removed: { at: at(0) },
      instance: { phase: 'Failed', cause: 'Requested', nextWakeAt: null },
    });
    expect(events).toEqual([
      note('VM Delete Requested', 'deleted by force: an instance may still run on its host'),
      wake('StopInstance'),
      note('VM Removed', 'deleted: no instance of it is left'),
    ]);
  });

  test('by force after one that is blocked needs no second request', () => {
    const life = running('Always');
    life.send({ kind: 'delete', force: false });
    life.wait(400);
    expect(facts(life, () => life.send({ kind: 'delete', force: true }))).toEqual([
      note('VM Removed', 'deleted: no instance of it is left'),
    ]);
    expect(life.vm.deleting).toEqual({ at: at(0), deadlineAt: at(330) });
  });

  test('by force of what ended keeps how it ended', () => {
    const life = running('Manual');
    life.report('Succeeded');
    life.send({ kind: 'delete', force: true });
    expect(life.vm).toMatchObject({ removed: { at: at(0) }, instance: { phase: 'Succeeded', cause: 'GuestShutdown' } });
  });
});
