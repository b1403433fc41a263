/** The whole system with real guests: control plane, agent and QEMU are processes of this machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildAgent } from '../../agent/build.mjs';
import type { EventEntry, VmJson } from '../../core/contract/answers.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import type { RunStrategy } from '../../core/contract/words.ts';
import { openCredentials } from '../../local/aws/credentials.ts';
import { call, items } from '../../local/demo/client.ts';
import { valueAt } from '../../world/simulate/match.ts';
import { outputTail } from '../../agent/host/process.ts';
import { alive } from '../agent/scene.ts';
import { Laptop, until } from '../system/laptop.ts';
import { Images, qemu } from './fixtures.ts';
import { running, vmBody, Vms } from './vms.ts';

const HOST = 'i-0000000000000000e';
const laptop = new Laptop();
const images = new Images();

beforeAll(async () => {
  if (qemu === null) return;
  await buildAgent();
  await laptop.start();
  laptop.machine({ nodeId: HOST, group: 'hosts', story: '', faults: {}, hostsVms: true }, images.agentEnv);
  await until('the host has enrolled', async () => ((await laptop.nodes()).length === 1 ? true : null));
}, 120_000);
afterAll(async () => {
  if (qemu !== null) await laptop.stop();
  images.remove();
}, 60_000);

const { sees, verb } = new Vms(laptop);
const body = (runStrategy: RunStrategy, launch: VmBody['launch'], more: Partial<VmBody> = {}): VmBody =>
  vmBody(HOST, runStrategy, launch, more);
const obedient = (vmId: string) => images.obedient(vmId);
const shortLived = (vmId: string) =>
  images.launch(vmId, { says: `${vmId} has booted`, afterTicks: 36, does: 'powerOff' });

const isAnother = (seen: VmJson, before: VmJson): boolean => seen.instance?.instanceId !== before.instance?.instanceId;

/** What the agent keeps of an instance on its host: what its guest said, or where its processes are. */
const folderOf = (vm: VmJson, kept: 'state' | 'guests'): string =>
  join(laptop.dataDir, 'machines', HOST, kept, 'instances', `${vm.vmId}@${vm.instance?.instanceId}`);

/** The pid of an instance's wrapper and of the QEMU below it. */
function pidsOf(vm: VmJson): { wrapper: number; guest: number } {
  const pid = (whose: string): number => Number(readFileSync(join(folderOf(vm, 'guests'), whose), 'utf8'));
  return { wrapper: pid('pid'), guest: pid('guest') };
}

describe.skipIf(qemu === null)('a real guest', () => {
  test('S10: that powers itself off is done under RerunOnFailure, Manual and Once, and nothing is counted', async () => {
    for (const strategy of ['RerunOnFailure', 'Manual', 'Once'] as const)
      await laptop.vm(strategy.toLowerCase(), body(strategy, shortLived(strategy.toLowerCase())));
    expect((await verb('manual', 'start')).status).toBe(202);
    const ends = { rerunonfailure: 'Stopped', manual: 'Stopped', once: 'Completed' };
    for (const [vmId, status] of Object.entries(ends)) {
      const vm = await sees(
        vmId,
        status,
        (seen) => seen.printableStatus === status && seen.instance?.phase === 'Succeeded',
      );
      expect(vm).toMatchObject({
        instance: { everRunning: true, cause: 'GuestShutdown' },
        startFailure: null,
        unstableRuns: null,
        restartCount: 0,
      });
    }
    expect((await verb('once', 'start')).status).toBe(409);
    expect((await verb('manual', 'start')).status).toBe(202);
    await sees('manual', 'Running again', running);
  });

  test('S10: that powers itself off after stableFor is started again at once under Always, uncounted', async () => {
    await laptop.vm('stable', body('Always', shortLived('stable'), { stableFor: '1s' }));
    const vm = await sees('stable', 'its third life', (seen) => seen.restartCount >= 2);
    expect(vm).toMatchObject({ startFailure: null, unstableRuns: null });
    await verb('stable', 'stop');
  });

  test('S04, S06: that boots and dies is in a crash loop; a stop during the back-off ends it', async () => {
    const panics = images.launch('panics', { says: 'panics has booted', afterTicks: 9, does: 'panic' });
    await laptop.vm('panics', body('Always', panics, { backoff: { base: '20s', factor: 2, cap: '60s', jitter: 0 } }));
    const looping = await sees('panics', 'a back-off', (seen) => seen.printableStatus === 'CrashLoopBackOff');
    expect(looping).toMatchObject({
      instance: { everRunning: true, cause: 'GuestPanic' },
      unstableRuns: { count: 1 },
      startFailure: null,
      lastFailure: { reason: 'GuestPanic', console: expect.stringContaining('panics has booted') },
    });
    expect((await verb('panics', 'stop')).status).toBe(202);
    expect((await verb('panics', 'stop')).status).toBe(202);
    expect(await sees('panics', 'Stopped', (seen) => seen.printableStatus === 'Stopped')).toMatchObject({
      runStrategy: 'Always',
      unstableRuns: null,
      instance: { instanceId: looping.instance?.instanceId },
    });
  });

  test('S01, S14: whose image is broken fails to start, backs off, and runs once its launch is corrected', async () => {
    await laptop.vm('broken', body('Always', images.broken()));
    const failed = await sees(
      'broken',
      'two start failures',
      (seen) => (seen.startFailure?.consecutiveFailCount ?? 0) >= 2,
    );
    expect(failed).toMatchObject({
      instance: { everRunning: false },
      startFailure: { reason: 'LaunchFailed', message: expect.stringMatching(/Could not open .*no-such\.img/) },
      unstableRuns: null,
    });
    await sees('broken', 'CrashLoopBackOff', (seen) => seen.printableStatus === 'CrashLoopBackOff');
    await laptop.vm('broken', body('Always', obedient('broken')));
    expect(await sees('broken', 'Running', running)).toMatchObject({
      startFailure: null,
      lastFailure: { reason: 'LaunchFailed', console: expect.stringContaining('Could not open') },
    });
  });

  test('whose QEMU is killed was Killed, is counted once, and is started again', async () => {
    await laptop.vm('killed', body('Always', obedient('killed')));
    const first = await sees('killed', 'Running', running);
    await until('the guest has said something', async () =>
      outputTail(folderOf(first, 'state')).includes('has booted') ? true : null,
    );
    process.kill(pidsOf(first).guest, 'SIGKILL');
    const again = await sees('killed', 'Running again', (seen) => running(seen) && isAnother(seen, first));
    expect(again).toMatchObject({
      unstableRuns: { count: 1 },
      restartCount: 1,
      lastFailure: {
        reason: 'Killed',
        message: 'exit code 137 (SIGKILL)',
        console: expect.stringContaining('has booted'),
      },
    });
  });

  test('S11: outlives its agent, is found again, and obeys its power button', async () => {
    await laptop.vm('kept', body('Always', obedient('kept')));
    const vm = await sees('kept', 'Running', running);
    const { guest } = pidsOf(vm);
    const started = laptop.agentLog(HOST).filter(({ event }) => event === 'agent started').length;
    process.kill(laptop.agentPid(HOST), 'SIGKILL');
    await until('the agent is back and has found its guests', async () => {
      const log = laptop.agentLog(HOST);
      const found = log.some(
        ({ event, instance }) => event === 'guest found again' && String(instance).startsWith('kept@'),
      );
      return found && log.filter(({ event }) => event === 'agent started').length > started ? true : null;
    });
    expect(alive(guest)).toBe(true);
    expect(await sees('kept', 'still Running', running)).toMatchObject({ restartCount: 0, instance: vm.instance });
    await verb('kept', 'stop');
    expect(await sees('kept', 'Stopped', (seen) => seen.printableStatus === 'Stopped')).toMatchObject({
      instance: { phase: 'Succeeded', cause: 'Requested' },
      lastFailure: null,
    });
    expect(alive(guest)).toBe(false);
  });

  test('S12: that ignores its power button is forced off after its grace; nothing is counted, nothing starts', async () => {
    await laptop.vm('deaf', body('Always', images.launch('deaf', { says: 'deaf has booted', does: 'ignore' })));
    const { guest } = pidsOf(await sees('deaf', 'Running', running));
    await verb('deaf', 'stop', { gracePeriod: '1s' });
    expect(await sees('deaf', 'Stopped', (seen) => seen.printableStatus === 'Stopped')).toMatchObject({
      instance: { phase: 'Failed', cause: 'Requested' },
      startFailure: null,
      unstableRuns: null,
    });
    expect(alive(guest)).toBe(false);
  });

  test('S02: reports of its end that come again, and late, are answered and change nothing', async () => {
    await laptop.vm('twice', body('Always', obedient('twice')));
    const first = await sees('twice', 'Running', running);
    process.kill(pidsOf(first).guest, 'SIGKILL');
    const again = await sees('twice', 'Running again', (seen) => running(seen) && isAnother(seen, first));
    const { accessKeyId, secretAccessKey, sessionToken } = openCredentials({
      file: join(laptop.dataDir, 'credentials.json'),
    }).node(HOST);
    const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
    const asHost = { ...laptop.connection, credentials };
    const late = { instanceId: first.instance?.instanceId, uid: first.uid, phase: 'Failed', cause: 'Killed' };
    for (const phase of ['Failed', 'Running', 'Failed']) {
      const answer = await call(asHost, 'POST', '/v1/vms/twice/reports', { ...late, phase });
      expect(answer).toMatchObject({ status: 200, body: { desired: { power: 'off' } } });
    }
    expect(await sees('twice', 'Running', running)).toEqual(again);
    expect(again.unstableRuns?.count).toBe(1);
  });

  test('S05: that flaps is forgiven only once it has been Running for stableFor', async () => {
    const backoff = { base: '1s', factor: 2, cap: '30s', jitter: 0 };
    const panics = images.launch('flaps', { says: 'flaps has booted', afterTicks: 9, does: 'panic' });
    await laptop.vm('flaps', body('Always', panics, { backoff, stableFor: '3s' }));
    await sees('flaps', 'two unstable runs', (seen) => (seen.unstableRuns?.count ?? 0) >= 2);
    await laptop.vm('flaps', body('Always', obedient('flaps-no-more'), { backoff, stableFor: '3s' }));
    const up = await sees('flaps', 'Running', running);
    const stable = await sees('flaps', 'stable', (seen) => seen.unstableRuns === null);
    expect(stable).toMatchObject({ instance: up.instance, lastFailure: { reason: 'GuestPanic' } });
    const events = await items<EventEntry>(laptop.connection, '/v1/vms/flaps/events');
    const recovered = events.find(({ type }) => type === 'VM Recovered');
    expect(Date.parse(recovered?.at ?? '') - Date.parse(up.instance?.since ?? '')).toBeGreaterThanOrEqual(3000);
    const delays = events.flatMap(({ message }) => /the next start is delayed by (\d+) s/.exec(message)?.[1] ?? []);
    expect(
      delays
        .map(Number)
        .toSorted((a, b) => a - b)
        .slice(0, 2),
    ).toEqual([1, 2]);
  });

  test('S07: started by two callers during its back-off it has one more life at once, and the old timer starts none', async () => {
    const backoff = { base: '5s', factor: 2, cap: '30s', jitter: 0 };
    const panics = images.launch('urgent', { says: 'urgent has booted', afterTicks: 9, does: 'panic' });
    await laptop.vm('urgent', body('Always', panics, { backoff }));
    await sees('urgent', 'a back-off', (seen) => seen.printableStatus === 'CrashLoopBackOff');
    const answers = await Promise.all([verb('urgent', 'start'), verb('urgent', 'start')]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(new Set(answers.map(({ body: vm }) => valueAt(vm, 'instance.instanceId'))).size).toBe(1);
    const logged = (event: string): number[] =>
      laptop
        .agentLog(HOST)
        .filter((entry) => entry['event'] === event && String(entry['instance']).startsWith('urgent@'))
        .map(({ at }) => Date.parse(String(at)));
    await until('a third life', async () => (logged('guest started').length >= 3 ? true : null));
    // It came after a wait of its own, not when the first one would have been over.
    const waited = (logged('guest started')[2] ?? 0) - (logged('instance ended')[1] ?? 0);
    expect(waited).toBeGreaterThanOrEqual(4900);
    await verb('urgent', 'stop');
  });

  test('S08, S13: whose QEMU hangs at its start is stopped uncounted; with a deadline that is LaunchTimeout', async () => {
    await laptop.vm('hangs', body('Always', images.stuck('hangs')));
    await sees('hangs', 'taken on', (seen) => seen.instance?.phase === 'Scheduled');
    await verb('hangs', 'stop', { gracePeriod: '1s' });
    expect(await sees('hangs', 'Stopped', (seen) => seen.printableStatus === 'Stopped')).toMatchObject({
      instance: { everRunning: false, cause: 'Requested' },
      startFailure: null,
      lastFailure: null,
    });
    await laptop.vm('hangs', body('Always', images.stuck('hangs'), { startDeadline: '2s' }));
    await verb('hangs', 'start');
    const late = await sees('hangs', 'a start failure', (seen) => seen.startFailure !== null);
    expect(late).toMatchObject({ startFailure: { consecutiveFailCount: 1, reason: 'LaunchTimeout' } });
    await verb('hangs', 'stop');
  });

  test('S15: deleted in its crash loop it is gone, and nothing of it starts again', async () => {
    await laptop.vm(
      'doomed',
      body('Always', images.broken(), { backoff: { base: '3s', factor: 2, cap: '30s', jitter: 0 } }),
    );
    await sees('doomed', 'a back-off', (seen) => seen.printableStatus === 'CrashLoopBackOff');
    await laptop.ok('DELETE', '/v1/vms/doomed');
    await until('it is gone', async () => ((await laptop.vms()).every(({ vmId }) => vmId !== 'doomed') ? true : null));
    expect((await call(laptop.connection, 'GET', '/v1/vms/doomed')).status).toBe(404);
  });

  test('S09: restarted has another life, and a stop after that ends it', async () => {
    await laptop.vm('again', body('Always', obedient('again')));
    const first = await sees('again', 'Running', running);
    expect((await verb('again', 'restart')).status).toBe(202);
    await sees('again', 'another life', (seen) => running(seen) && isAnother(seen, first));
    await Promise.all([verb('again', 'restart'), verb('again', 'stop')]);
    await verb('again', 'stop');
    expect(await sees('again', 'Stopped', (seen) => seen.printableStatus === 'Stopped')).toMatchObject({
      runStrategy: 'Always',
    });
  });

  test('S13: whose arguments this host does not allow is refused, with the reason', async () => {
    await laptop.vm('greedy', body('Always', { type: 'qemu', args: ['-daemonize'] }));
    const vm = await sees('greedy', 'a refusal', (seen) => seen.startFailure !== null);
    expect(vm.startFailure).toMatchObject({
      reason: 'LaunchFailed',
      message: expect.stringMatching(/-daemonize is refused/),
    });
    await verb('greedy', 'stop');
  });
});
