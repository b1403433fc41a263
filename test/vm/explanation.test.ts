/** Status and explanation of a VM, and what its host is told of it: the record that decides also explains (DESIGN section 3, rule 3). */
import { describe, expect, test } from 'vitest';
import type { PrintableStatus } from '../../core/contract/words.ts';
import { at, declared, edit, editInstance, HOST, iso, running, type VmLife } from './scene.ts';
import { there } from '../kit/there.ts';
import {
  soon,
  failed,
  unstable,
  ended,
  stopping,
  restarting,
  scheduled,
  timedOut,
  deleting,
  silent,
  later,
  FIRST,
  exit1,
} from './situations.ts';

describe('status and explanation', () => {
  test.each<[string, () => VmLife, PrintableStatus, string]>([
    ['off', () => declared('Manual'), 'Stopped', 'Off: it has not been started yet; start it to run it.'],
    ['halted', () => declared('Halted'), 'Stopped', 'Halted: it never runs; change its runStrategy to run it.'],
    [
      'not picked up',
      () => declared('Always'),
      'Starting',
      `Host ${HOST} has not picked up instance ${FIRST} yet; the host is woken again ${soon(60, '60 s')}; nothing is counted.`,
    ],
    [
      'not picked up, no wake to come',
      () => editInstance(declared('Always'), { nextWakeAt: null }),
      'Starting',
      `Host ${HOST} has not picked up instance ${FIRST} yet; nothing is counted.`,
    ],
    [
      'taken on',
      scheduled,
      'Starting',
      `Host ${HOST} is starting instance ${FIRST}; not Running ${soon(300, '5 min')} counts as a start failure.`,
    ],
    [
      'taken on without a deadline',
      () => editInstance(scheduled(), { startDeadlineAt: null }),
      'Starting',
      `Host ${HOST} is starting instance ${FIRST}.`,
    ],
    ['Running', () => running('Always'), 'Running', `Running on host ${HOST} since ${iso(0)}.`],
    [
      'Running after short runs',
      () => {
        const life = unstable();
        life.wait(13);
        life.report('Running');
        return life;
      },
      'Running',
      `Running on host ${HOST} after an unstable run, which is forgotten ${soon(613, '10 min')} if it stays up. Last failure ${iso(0)}: GuestPanic.`,
    ],
    [
      'Running after short runs, nobody knows since when',
      () =>
        editInstance(edit(running('Always'), { unstableRuns: { count: 2, retryAfter: null } }), { runningSince: null }),
      'Running',
      `Running on host ${HOST} since ${iso(0)}.`,
    ],
    [
      'on a silent host',
      silent,
      'Unknown',
      `Host ${HOST} is silent, so nothing is known of instance ${FIRST}; it is started again only after the host reports or is fenced.`,
    ],
    [
      'failing to start',
      failed,
      'CrashLoopBackOff',
      `In a crash loop: failed to start once (LaunchFailed); the next start is tried ${soon(12.5, '13 s')} on host ${HOST}. Start it to try now, stop it to give up.${exit1}`,
    ],
    [
      'failing to start again and again, and running only shortly too',
      () => {
        const life = failed();
        const startFailure = there(life.vm.startFailure);
        const message = null;
        return edit(life, {
          startFailure: { ...startFailure, consecutiveFailCount: 3 },
          unstableRuns: { count: 2, retryAfter: null },
          lastFailure: { reason: 'Killed', message, console: null, at: at(0) },
        });
      },
      'CrashLoopBackOff',
      `In a crash loop: failed to start 3 times in a row (LaunchFailed) and ran only shortly 2 times in a row; the next start is tried ${soon(12.5, '13 s')} on host ${HOST}. Start it to try now, stop it to give up. Last failure ${iso(0)}: Killed.`,
    ],
    [
      'running only shortly',
      unstable,
      'CrashLoopBackOff',
      `In a crash loop: ran only shortly once; the next start is tried ${soon(12.5, '13 s')} on host ${HOST}. Start it to try now, stop it to give up. Last failure ${iso(0)}: GuestPanic.`,
    ],
    [
      'to be started for no failure',
      () => edit(failed(), { startFailure: null }),
      'CrashLoopBackOff',
      `Is to be started; the next start is tried ${soon(12.5, '13 s')} on host ${HOST}. Start it to try now, stop it to give up.`,
    ],
    [
      'planned with power off',
      () => edit(failed(), { power: { on: false, sequence: 1 }, startFailure: null }),
      'Stopped',
      'Its last instance ended Failed (LaunchFailed); start it to run it again.',
    ],
    [
      'stopping',
      stopping,
      'Stopping',
      `Stopping: host ${HOST} was told to end instance ${FIRST} and its end is not known yet; the host is woken again ${soon(60, '60 s')}; then it stays off.`,
    ],
    [
      'restarting',
      restarting,
      'Stopping',
      `Stopping: host ${HOST} was told to end instance ${FIRST} and its end is not known yet; the host is woken again ${soon(60, '60 s')}; then it is started again.`,
    ],
    [
      'stopping with a start planned but power off',
      () => edit(stopping(), { pendingStart: { notBefore: at(0) } }),
      'Stopping',
      `Stopping: host ${HOST} was told to end instance ${FIRST} and its end is not known yet; the host is woken again ${soon(60, '60 s')}; then it stays off.`,
    ],
    [
      'not Running within its deadline',
      timedOut,
      'CrashLoopBackOff',
      `In a crash loop: failed to start once (LaunchTimeout): instance ${FIRST} was not Running within its start deadline, host ${HOST} was told to end it and its end is not known yet; the host is woken again ${soon(360, '60 s')}, and the next start waits for that and is tried not before ${soon(312.5, '13 s')}. Last failure ${iso(300)}: LaunchTimeout (not Running within its start deadline).`,
    ],
    [
      'not Running within its deadline, nothing planned',
      () => edit(timedOut(), { pendingStart: null, startFailure: null }),
      'Stopping',
      `No start is planned: instance ${FIRST} was not Running within its start deadline, host ${HOST} was told to end it and its end is not known yet; the host is woken again ${soon(360, '60 s')}.`,
    ],
    [
      'not Running within its deadline, counted and nothing planned',
      () => edit(timedOut(), { pendingStart: null, lastFailure: null }),
      'Stopping',
      `In a crash loop: failed to start once (LaunchTimeout): instance ${FIRST} was not Running within its start deadline, host ${HOST} was told to end it and its end is not known yet; the host is woken again ${soon(360, '60 s')}.`,
    ],
    [
      'restarting, nothing planned',
      () => edit(restarting(), { pendingStart: null }),
      'Stopping',
      `Stopping: host ${HOST} was told to end instance ${FIRST} and its end is not known yet; the host is woken again ${soon(60, '60 s')}; then it stays off.`,
    ],
    [
      'to run once, without an instance',
      () => edit(declared('Once'), { instance: null }),
      'Stopped',
      'Off: it has not been started yet; start it to run it.',
    ],
    [
      'not Running within its deadline, started by an operator',
      () => {
        const life = timedOut();
        life.start();
        return life;
      },
      'Stopping',
      `Is to be started: instance ${FIRST} was not Running within its start deadline, host ${HOST} was told to end it and its end is not known yet; the host is woken again ${soon(360, '60 s')}, and the next start waits for that and is tried not before now.`,
    ],
    [
      'not Running within its deadline, after short runs',
      () => edit(timedOut(), { startFailure: null, unstableRuns: { count: 1, retryAfter: null }, lastFailure: null }),
      'CrashLoopBackOff',
      `In a crash loop: ran only shortly once: instance ${FIRST} was not Running within its start deadline, host ${HOST} was told to end it and its end is not known yet; the host is woken again ${soon(360, '60 s')}, and the next start waits for that and is tried not before ${soon(312.5, '13 s')}.`,
    ],
    [
      'stopped',
      () => {
        const life = stopping();
        life.report('Failed');
        return life;
      },
      'Stopped',
      'Stopped by an operator; it stays off until it is started.',
    ],
    [
      'done, under Once',
      () => ended('Once', 'Succeeded'),
      'Completed',
      'Its last instance ended Succeeded (GuestShutdown) and run strategy Once runs it only once; stop it and start it to run it again.',
    ],
    [
      'failed, under Once',
      () => ended('Once', 'Failed'),
      'Failed',
      `Its last instance ended Failed (Unknown) and run strategy Once runs it only once; stop it and start it to run it again. Last failure ${iso(0)}: Unknown.`,
    ],
    [
      'done, under Once with power off',
      () => edit(ended('Once', 'Succeeded'), { power: { on: false, sequence: 1 } }),
      'Stopped',
      'Its last instance ended Succeeded (GuestShutdown) and run strategy Once runs it only once; stop it and start it to run it again.',
    ],
    [
      'failed, under Once with power off',
      () => edit(ended('Once', 'Failed'), { power: { on: false, sequence: 1 } }),
      'Stopped',
      'Its last instance ended Failed (Unknown) and run strategy Once runs it only once; stop it and start it to run it again.',
    ],
    [
      'done, under RerunOnFailure',
      () => ended('RerunOnFailure', 'Succeeded'),
      'Stopped',
      'Its last instance ended Succeeded (GuestShutdown): the guest is done, and run strategy RerunOnFailure restarts only after a failure; start it to run it again.',
    ],
    [
      'ended of no known cause, under Manual',
      () => editInstance(ended('Manual', 'Failed'), { cause: null }),
      'Stopped',
      'Its last instance ended Failed (Unknown); start it to run it again.',
    ],
    [
      'being deleted',
      () => deleting(running('Always')),
      'Terminating',
      `Being deleted: the record goes once host ${HOST} reports the end of instance ${FIRST}; a blocker is named ${soon(330, '6 min')}.`,
    ],
    [
      'being deleted without an instance',
      () => edit(declared('Manual'), { deleting: { at: at(0), deadlineAt: at(60) } }),
      'Terminating',
      `Being deleted: its record goes; a blocker is named ${soon(60, '60 s')}.`,
    ],
    [
      'blocked from being deleted',
      () => later(deleting(running('Always')), 330),
      'Terminating',
      `Being deleted, blocked by host ${HOST}: it has not reported the end of instance ${FIRST} since ${iso(0)}. Fence the host, or delete with force, which gives up the guarantee that no second instance runs.`,
    ],
  ])('%s', (_what, make, printableStatus, explanation) => {
    expect(make().shown).toMatchObject({ printableStatus, explanation });
  });
});
