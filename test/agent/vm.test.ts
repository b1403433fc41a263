import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { VmReport } from '../../core/contract/agent-bodies.ts';
import { alive, bundleAgent, Scene, until } from './scene.ts';

let agent: ReturnType<typeof bundleAgent>;
let scene: Scene;
beforeAll(() => {
  agent = bundleAgent();
});
afterAll(() => agent.remove());
beforeEach(() => {
  scene = new Scene(agent.bundle);
});
afterEach(() => scene.close());

const exec = (command: string | string[]) => ({ type: 'exec' as const, command });
/** Writes its pid and runs on. */
const living = (name = 'guest.pid') => exec(`echo $$ > ${scene.file(name)}; exec sleep 300`);
const last = (): VmReport | undefined => scene.plane.vmReports.at(-1);

describe('the life of an instance', () => {
  test('is Scheduled, Running, and Succeeded by its own shutdown', async () => {
    scene.declare({ launch: exec(`echo booted; while [ ! -e ${scene.file('down')} ]; do sleep 0.05; done; echo bye`) });
    await scene.boot();
    await scene.phases('web', 'a1 Scheduled', 'a1 Running');
    await scene.machine.stopAgent();
    scene.machine.startAgent();
    writeFileSync(scene.file('down'), '');
    await scene.phases('web', 'a1 Running', 'a1 Succeeded GuestShutdown');
    expect(last()).toMatchObject({ uid: 'u-1', message: 'exit code 0', console: 'booted\nbye\n' });
  });

  test('that ends by itself with an error was Killed, once it had been Running', async () => {
    scene.declare({ launch: exec('sleep 0.6; echo panic >&2; exit 3') });
    await scene.boot();
    await scene.phases('web', 'a1 Running', 'a1 Failed Killed');
    expect(last()).toMatchObject({ message: 'exit code 3', console: 'panic\n' });
  });

  test('that ends before it has settled is LaunchFailed and never Running', async () => {
    scene.declare({ launch: exec(['no-such-program-here']) });
    await scene.boot();
    await scene.phases('web', 'a1 Scheduled', 'a1 Failed LaunchFailed');
    expect(last()?.message).toBe('exit code 127 (command not found)');
    expect(scene.plane.phases('web')).not.toContain('a1 Running');
  });

  test('a job that is done at once has been Running', async () => {
    scene.declare({ launch: exec(['true']) });
    await scene.boot();
    await scene.phases('web', 'a1 Scheduled', 'a1 Running', 'a1 Succeeded GuestShutdown');
  });

  test('a command given as an array is run as it is, a string by the shell', async () => {
    scene.declare({ vmId: 'array', instanceId: 'b1', launch: exec(['echo', '$HOME', ';', 'exit 3']) });
    scene.declare({ vmId: 'text', instanceId: 'b2', launch: exec('echo "$((6*7))"') });
    await scene.boot();
    await scene.phases('array', 'b1 Succeeded GuestShutdown');
    await scene.phases('text', 'b2 Succeeded GuestShutdown');
    // A report whose answer was slow is sent again: what counts is what was said, not how often.
    const consoles = new Set(scene.plane.vmReports.flatMap((report) => report.console ?? []));
    expect([...consoles].toSorted()).toEqual(['$HOME ; exit 3\n', '42\n']);
  });

  test('a guest sees nothing of the agent: neither keys nor settings', async () => {
    scene.declare({ launch: exec('env') });
    await scene.boot();
    await scene.phases('web', 'a1 Succeeded GuestShutdown');
    expect(last()?.console).not.toMatch(/AWS_|HOLDOFF_ENDPOINT/);
  });

  test('the living are reported again with each report of the node', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    await until(
      'three times Running',
      () => scene.plane.vmReports.filter(({ phase }) => phase === 'Running').length >= 3,
    );
  });
});

describe('a launch that is refused', () => {
  test.each([
    ['simulateCrash', { launch: exec('sleep 300'), simulateCrash: true }, 'simulated crash', '1'],
    ['libvirt', { launch: { type: 'libvirt' as const, domain: 'web' } }, /HOLDOFF_LIBVIRT is not set/, '1'],
    ['qemu', { launch: { type: 'qemu' as const, args: ['-m', '16'] } }, /HOLDOFF_QEMU is not set/, '1'],
    ['exec without the opt-in', { launch: exec('sleep 300') }, /HOLDOFF_ALLOW_EXEC is not set/, '0'],
  ])('%s fails at once as LaunchFailed, with the reason', async (_what, row, message, allow) => {
    scene.declare(row);
    await scene.boot({ agentEnv: { HOLDOFF_ALLOW_EXEC: allow } });
    await scene.phases('web', 'a1 Scheduled', 'a1 Failed LaunchFailed');
    expect(last()?.message).toMatch(message);
  });

  test('an instance that is not Running by its start deadline is killed: LaunchTimeout', async () => {
    scene.declare({ launch: living(), startDeadlineSeconds: 1 });
    await scene.boot({ agentEnv: { HOLDOFF_SETTLE: '60s' } });
    const pid = await scene.pid('guest.pid');
    await scene.phases('web', 'a1 Scheduled', 'a1 Failed LaunchTimeout');
    expect(alive(pid)).toBe(false);
  });
});

describe('the lock of a VM', () => {
  test('outlives the agent and its records: while a guest holds it, no second one of its VM starts', async () => {
    scene.declare({ launch: living('first.pid') });
    await scene.boot();
    const first = await scene.pid('first.pid');
    await scene.phases('web', 'a1 Running');
    await scene.machine.stopAgent();
    // Not even the wrapper, by which a guest without a record is found, is left; only the guest itself.
    process.kill(Number(scene.read('machine/guests/instances/web@a1/pid')), 'SIGKILL');
    rmSync(scene.file('machine/state/instances'), { recursive: true });
    scene.declare({ instanceId: 'a2', launch: living('second.pid') });
    scene.machine.startAgent();
    await scene.phases('web', 'a2 Scheduled', 'a2 Failed LaunchFailed');
    expect(last()?.message).toMatch(/the lock of the VM is held/);
    expect(alive(first)).toBe(true);
    process.kill(first, 'SIGKILL');
    scene.declare({ instanceId: 'a3', launch: living('third.pid') });
    scene.wake('next', '0');
    await scene.phases('web', 'a3 Running');
  });
});

describe('an orphan', () => {
  test('a guest of which no record is left is found again and reported under its own id', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    const pid = await scene.pid('guest.pid');
    await scene.phases('web', 'a1 Running');
    await scene.machine.stopAgent();
    rmSync(scene.file('machine/state/instances'), { recursive: true });
    const seen = scene.plane.vmReports.length;
    scene.machine.startAgent();
    await until('Running is reported again, without a declaration’s uid', () =>
      scene.plane.vmReports.slice(seen).some(({ phase, uid }) => phase === 'Running' && uid === undefined),
    );
    expect(alive(pid)).toBe(true);
    expect(scene.plane.launches).toEqual(['a1']);
    scene.declare({ launch: living(), power: 'off' });
    await scene.phases('web', 'a1 Running', 'a1 Succeeded Requested');
    expect(alive(pid)).toBe(false);
  });
});

describe('a hypervisor that never gets its guest to run', () => {
  test('is killed at the start deadline: LaunchTimeout', async () => {
    // A program that takes any arguments and opens no QMP socket.
    const program = scene.file('no-qemu');
    writeFileSync(program, `#!/bin/sh\necho $$ > ${scene.file('guest.pid')}\nexec sleep 300\n`, { mode: 0o755 });
    scene.declare({ launch: { type: 'qemu', args: ['-m', '16'] }, startDeadlineSeconds: 1 });
    await scene.boot({ agentEnv: { HOLDOFF_QEMU: program } });
    const pid = await scene.pid('guest.pid');
    await scene.phases('web', 'a1 Scheduled', 'a1 Failed LaunchTimeout');
    expect(alive(pid)).toBe(false);
    expect(scene.plane.phases('web')).not.toContain('a1 Running');
  });
});

describe('a stop', () => {
  const stop = (graceSeconds: number): void => {
    scene.declare({ launch: living(), power: 'off', graceSeconds });
    scene.wake('stop', '0');
  };

  test('lets the guest end within its grace: Succeeded, Requested', async () => {
    scene.declare({
      launch: exec(
        `trap 'echo saved; exit 0' TERM; echo $$ > ${scene.file('guest.pid')}; while :; do sleep 0.05; done`,
      ),
    });
    await scene.boot();
    await scene.phases('web', 'a1 Running');
    stop(30);
    await scene.phases('web', 'a1 Running', 'a1 Succeeded Requested');
    expect(last()?.console).toMatch(/saved\n$/);
  });

  test('kills a guest that does not: Failed, Requested', async () => {
    scene.declare({ launch: exec(`trap '' TERM; echo $$ > ${scene.file('guest.pid')}; while :; do sleep 0.05; done`) });
    await scene.boot();
    await scene.phases('web', 'a1 Running');
    stop(0.5);
    await scene.phases('web', 'a1 Running', 'a1 Failed Requested');
    expect(last()?.message).toMatch(/^killed after its grace/);
    expect(alive(await scene.pid('guest.pid'))).toBe(false);
  });

  test('goes on across a kill of the agent', async () => {
    scene.declare({ launch: exec(`trap '' TERM; echo $$ > ${scene.file('guest.pid')}; while :; do sleep 0.05; done`) });
    await scene.boot();
    await scene.phases('web', 'a1 Running');
    stop(1);
    await until('the stop on record', () =>
      scene.read('machine/state/instances/web@a1/instance.json').includes('"cause":"Requested"'),
    );
    scene.machine.killAgent();
    await scene.phases('web', 'a1 Running', 'a1 Failed Requested');
  });

  test('of an instance that was never taken on is answered with its end, and it never starts', async () => {
    scene.declare({ launch: living(), power: 'off' });
    await scene.boot();
    await scene.phases('web', 'a1 Succeeded Requested');
    scene.declare({ launch: living(), power: 'on' });
    scene.wake('on', '0');
    const seen = scene.plane.vmReports.length;
    await until('told again that it has ended', () => scene.plane.vmReports.length > seen);
    expect(scene.plane.launches).toEqual([]);
  });

  test('ends what the guest has left in the background', async () => {
    scene.declare({ launch: exec(`setsid sh -c 'echo $$ > ${scene.file('daemon.pid')}; exec sleep 300' & sleep 0.7`) });
    await scene.boot();
    const pid = await scene.pid('daemon.pid');
    await scene.phases('web', 'a1 Succeeded GuestShutdown');
    expect(alive(pid)).toBe(false);
  });
});

describe('no instance twice, and no two of one VM', () => {
  test('an instance that has ended and is still listed is told again, not launched again', async () => {
    scene.declare({ launch: exec('exit 1') });
    await scene.boot();
    await until('told twice', () => scene.plane.vmReports.filter(({ phase }) => phase === 'Failed').length >= 2);
    expect(scene.plane.launches).toEqual(['a1']);
  });

  test('the next instance starts once the one before it has ended', async () => {
    scene.declare({ launch: living('first.pid') });
    await scene.boot();
    const first = await scene.pid('first.pid');
    await scene.phases('web', 'a1 Running');
    scene.declare({ instanceId: 'a2', launch: exec(`test ! -d /proc/${first} && exec sleep 300`) });
    scene.wake('next', '0');
    await scene.phases('web', 'a1 Succeeded Requested', 'a2 Scheduled', 'a2 Running');
    expect(alive(first)).toBe(false);
  });
});

describe('an agent that restarts', () => {
  test('finds its living guest again: nothing is started a second time', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    const pid = await scene.pid('guest.pid');
    await scene.phases('web', 'a1 Running');
    const { starts } = scene.machine.state().agent;
    scene.machine.killAgent();
    await until('the agent is back', () => scene.machine.state().agent.starts > starts);
    const seen = scene.plane.vmReports.length;
    await until('Running is reported again', () =>
      scene.plane.vmReports.slice(seen).some(({ phase }) => phase === 'Running'),
    );
    expect(alive(pid)).toBe(true);
    expect(scene.plane.launches).toEqual(['a1']);
    // And it is still the agent that ends it.
    scene.declare({ launch: living(), power: 'off' });
    await scene.phases('web', 'a1 Running', 'a1 Succeeded Requested');
    expect(alive(pid)).toBe(false);
  });

  test('reports a guest that was killed meanwhile as Killed', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    const pid = await scene.pid('guest.pid');
    await scene.phases('web', 'a1 Running');
    await scene.machine.stopAgent();
    expect(alive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
    scene.machine.startAgent();
    await scene.phases('web', 'a1 Running', 'a1 Failed Killed');
    expect(last()?.message).toBe('exit code 137 (SIGKILL)');
  });

  test('brings an end that could not be told', async () => {
    scene.declare({ launch: exec('sleep 0.7; exit 4') });
    await scene.boot();
    await scene.phases('web', 'a1 Running');
    scene.plane.down = true;
    await until('the end on record', () =>
      scene.read('machine/state/instances/web@a1/instance.json').includes('exit code 4'),
    );
    scene.machine.killAgent();
    scene.plane.down = false;
    await scene.phases('web', 'a1 Running', 'a1 Failed Killed');
  });

  test('is a restart of the agent, not of an instance whose record cannot be read', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    const pid = await scene.pid('guest.pid');
    await scene.phases('web', 'a1 Running');
    await scene.machine.stopAgent();
    writeFileSync(scene.file('machine/state/instances/web@a1/instance.json'), 'rubbish');
    const seen = scene.plane.vmReports.length;
    scene.machine.startAgent();
    await until('Running is reported again', () =>
      scene.plane.vmReports.slice(seen).some(({ phase }) => phase === 'Running'),
    );
    expect(alive(pid)).toBe(true);
    expect(scene.plane.launches).toEqual(['a1']);
  });
});

describe('a host that goes down', () => {
  test('without warning: its guests are lost with it', async () => {
    scene.declare({ launch: living() });
    await scene.boot();
    const pid = await scene.pid('guest.pid');
    await scene.phases('web', 'a1 Running');
    await scene.machine.reboot();
    expect(alive(pid)).toBe(false);
    await scene.phases('web', 'a1 Running', 'a1 Failed HostLost');
  });

  test('for an update: its guests are ended with grace before the reboot, as HostMaintenance', async () => {
    scene.plane.node.updates = false;
    scene.declare({ launch: living() });
    await scene.boot({ faults: { offeredVersion: '1.21.0' } });
    await scene.phases('web', 'a1 Running');
    scene.plane.node.updates = true;
    await scene.phases('web', 'a1 Running', 'a1 Succeeded HostMaintenance');
    scene.declare({ instanceId: 'a2', launch: living() });
    await scene.told('4 RebootedIntoUpdate', '6 Idle');
    await scene.phases('web', 'a1 Succeeded HostMaintenance', 'a2 Running');
    expect(scene.plane.launches).toEqual(['a1', 'a2']);
  });
});
