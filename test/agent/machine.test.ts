import { request } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Faults } from '../../local/machine/faults.ts';
import { Machine } from '../../local/machine/machine.ts';
import { alive, NODE_ID, until } from './scene.ts';

let dir: string;
let machine: Machine;
async function boot(faults: Faults, agentCommand = ['sleep', '300']): Promise<void> {
  machine = new Machine({
    dir,
    nodeId: NODE_ID,
    endpoint: 'http://127.0.0.1:9',
    region: 'eu-west-1',
    version: '1.20.5',
    agentCommand,
    faults: { commandSeconds: 0, rebootSeconds: 0, ...faults },
  });
  await machine.start();
}
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdoff-machine-'));
});
afterEach(async () => {
  await machine.close();
  rmSync(dir, { recursive: true, force: true });
});

function call(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath: machine.socket, method, path }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => {
        text += chunk;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
const act = (command: string) => call('POST', `/actions/${command}`);

/** Runs a command to its end. */
async function run(command: string): Promise<void> {
  const before = machine.state().update?.most_recent_command?.timestamp;
  expect(await act(command)).toEqual({ status: 204, text: '' });
  await until(`${command} done`, () => machine.state().update?.most_recent_command?.timestamp !== before);
}
const update = () => machine.state().update;

describe('the update API of the machine, as the facts have it', () => {
  test('status is 404 until the first command since boot', async () => {
    await boot({});
    expect((await call('GET', '/updates/status')).status).toBe(404);
    await run('refresh-updates');
    const status: unknown = JSON.parse((await call('GET', '/updates/status')).text);
    expect(status).toMatchObject({
      update_state: 'Idle',
      chosen_update: null,
      staging_partition: null,
      most_recent_command: {
        cmd_type: 'refresh',
        cmd_status: 'Success',
        timestamp: expect.stringMatching(/\.\d{9}Z$/),
      },
    });
  });

  test('the four commands move along the table and are refused outside it', async () => {
    await boot({ offeredVersion: '1.21.0' });
    expect((await act('prepare-update')).status).toBe(409);
    expect((await act('activate-update')).status).toBe(409);
    await run('refresh-updates');
    expect(update()).toMatchObject({ update_state: 'Available', chosen_update: { version: '1.21.0' } });
    await run('prepare-update');
    expect(update()).toMatchObject({ update_state: 'Staged', staging_partition: { next_to_boot: false } });
    expect((await act('deactivate-update')).status).toBe(409);
    await run('activate-update');
    expect(update()).toMatchObject({
      update_state: 'Ready',
      staging_partition: { next_to_boot: true },
      active_partition: { next_to_boot: false },
    });
    expect((await act('prepare-update')).status).toBe(409);
    await run('deactivate-update');
    expect(update()?.update_state).toBe('Staged');
  });

  test('while a command runs everything about updates is 423, in plain text', async () => {
    await boot({ commandSeconds: 60 });
    await act('refresh-updates');
    expect((await call('GET', '/updates/status')).status).toBe(423);
    const refused = await act('refresh-updates');
    expect(refused).toMatchObject({ status: 423, text: expect.stringMatching(/lock/) });
    expect((await call('GET', '/os')).status).toBe(200);
  });

  test('a failed refresh goes to Idle and leaves the old choice', async () => {
    await boot({ offeredVersion: '1.21.0' });
    await run('refresh-updates');
    machine.setFaults({ failRefresh: 1 });
    await run('refresh-updates');
    expect(update()).toMatchObject({
      update_state: 'Idle',
      chosen_update: { version: '1.21.0' },
      most_recent_command: { cmd_status: 'Failed' },
    });
  });

  test('settings answer by key, 400 for none, 404 for an unknown one', async () => {
    await boot({});
    const codes = await Promise.all(
      ['?keys=settings.updates.seed', '?keys=', '?keys=x'].map((query) => call('GET', `/settings${query}`)),
    );
    expect(codes.map(({ status }) => status)).toEqual([200, 400, 404]);
  });

  test('an activated set boots; its single try that fails brings the old one back', async () => {
    await boot({ offeredVersion: '1.21.0', bootsBack: 1 });
    for (const bootsInto of ['1.20.5', '1.21.0']) {
      for (const command of ['refresh-updates', 'prepare-update', 'activate-update']) await run(command);
      const { bootId } = machine.state();
      await act('reboot');
      await until('the next boot', () => machine.state().up && machine.state().bootId !== bootId);
      expect(JSON.parse((await call('GET', '/os')).text)).toMatchObject({
        version_id: bootsInto,
        variant_id: 'aws-ecs-2',
      });
      expect(update()).toBeNull();
    }
  });

  test('faults, state and power are there for whoever drives it', async () => {
    await boot({});
    expect((await call('POST', '/test/faults', { failPrepare: 2 })).status).toBe(200);
    expect(machine.state().faults.failPrepare).toBe(2);
    expect((await call('POST', '/test/faults', { failPrepair: 2 })).status).toBe(400);
    const { boots } = machine.state();
    await call('POST', '/test/power-cycle');
    await until('a boot', () => machine.state().up && machine.state().boots === boots + 1);
  });
});

describe('the machine itself', () => {
  test('a reboot kills the agent and all it started, also in other sessions', async () => {
    const file = join(dir, 'pid');
    await boot({}, ['sh', '-c', `setsid sh -c 'echo $$ > ${file}; exec sleep 300' & exec sleep 300`]);
    await until('the daemon', () => readText(file).endsWith('\n'));
    const pid = Number(readText(file));
    await machine.reboot();
    expect(alive(pid)).toBe(false);
  });

  test('another machine goes on with the same disk, after a kill', async () => {
    await boot({ offeredVersion: '1.21.0' });
    for (const command of ['refresh-updates', 'prepare-update', 'activate-update']) await run(command);
    await machine.close();
    await boot({});
    expect(machine.state()).toMatchObject({ version: '1.21.0', boots: 2 });
  });

  test('the kernel files are there: a boot id, and an uptime that goes on', async () => {
    await boot({});
    expect(readText(join(dir, 'boot_id')).trim()).toBe(machine.state().bootId);
    const before = Number.parseFloat(readText(join(dir, 'uptime')));
    await until('time passes', () => Number.parseFloat(readText(join(dir, 'uptime'))) > before);
  });
});

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Not written yet.
    return '';
  }
}
