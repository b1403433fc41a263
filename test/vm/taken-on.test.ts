/** From when the start deadline runs of an instance that its host takes on, and takes on again (DESIGN section 3 rule 5). */
import { describe, expect, test } from 'vitest';
import { minutes } from '../../core/kit/time.ts';
import { at, declared, HOST, instance, type VmLife } from './scene.ts';
import { later, scheduled, timedOut } from './situations.ts';

const silent = (life: VmLife): VmLife => {
  life.send({ kind: 'hostSilent', hostId: HOST });
  return life;
};
const restored = (life: VmLife): VmLife => {
  life.send({ kind: 'recover', at: life.now, settle: minutes(4) });
  return life;
};
const again = (life: VmLife, seconds: number): VmLife => {
  later(life, seconds).report('Scheduled');
  return life;
};
const stopped = (): VmLife => {
  const life = scheduled();
  life.stop();
  return life;
};

describe('an instance that its host says again to have taken on has', () => {
  test.each<[string, () => VmLife, number | null]>([
    ['the deadline that was set, after a silence', () => again(silent(scheduled()), 100), 300],
    [
      'the one that its VM was given since, though it had none',
      () => {
        const life = declared('Always', { startDeadline: 'none' });
        life.report('Scheduled');
        life.put('Always', { backoff: { preset: 'seed' }, startDeadline: '5m' });
        return again(silent(life), 100);
      },
      300,
    ],
    ['a new one after a restore, which let no clock run', () => again(restored(scheduled()), 100), 400],
    ['that one, after a restore and a silence', () => again(silent(again(restored(scheduled()), 100)), 200), 400],
    ['none after a restore, if it was stopped before', () => again(restored(stopped()), 100), null],
    ['none after a restore, if it missed its deadline before', () => again(restored(timedOut()), 400), null],
  ])('%s', (_what, make, deadline) => {
    expect(instance(make())).toMatchObject({
      phase: 'Scheduled',
      startDeadlineAt: deadline === null ? null : at(deadline),
    });
  });
});
