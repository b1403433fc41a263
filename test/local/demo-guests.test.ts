/** The guests of `npm start -- --qemu`: what is written and declared, and what is said where QEMU is missing. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { qemuRefusal } from '../../agent/host/qemu/arguments.ts';
import { readSettings } from '../../agent/settings.ts';
import { vmBodySchema } from '../../core/contract/operator-bodies.ts';
import { VMS } from '../../local/demo/fleet.ts';
import { realGuests } from '../../local/demo/guests.ts';
import { findProgram, QEMU, QEMU_MISSING } from '../../local/demo/qemu.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdoff-demo-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('the program is the first on the path that may be run', () => {
  expect(findProgram(QEMU, undefined)).toBeNull();
  expect(findProgram(QEMU, `:${dir}:${join(dir, 'none')}`)).toBeNull();
  const program = join(dir, QEMU);
  writeFileSync(program, '');
  chmodSync(program, 0o644);
  // Root may run no file without an x either.
  expect(findProgram(QEMU, dir)).toBeNull();
  chmodSync(program, 0o755);
  expect(findProgram(QEMU, `${join(dir, 'none')}:${dir}`)).toBe(program);
});

test('without it the demo says what is missing, what it does instead and what to do', () => {
  expect(QEMU_MISSING).toMatch(
    /^--qemu needs the program qemu-system-x86_64,.*scripts stand for the guests\. Install it .*apt-get install qemu-system-x86.*start it again/,
  );
});

test('each VM of the demo is declared as a guest that its host allows; one has no image', () => {
  const { vms, agentEnv } = realGuests('/usr/bin/qemu', dir);
  expect(Object.keys(vms)).toEqual(Object.keys(VMS));
  const { qemu } = settings(agentEnv);
  for (const [vmId, body] of Object.entries(vms)) {
    expect(vmBodySchema.safeParse(body).success).toBe(true);
    if (body.launch.type !== 'qemu' || qemu === null) throw new Error(`${vmId} is no guest of QEMU`);
    expect(qemuRefusal(body.launch.args, qemu)).toBeNull();
    const image = /file=([^,]+)/.exec(body.launch.args.join(' '))?.[1] ?? '';
    expect(dirname(image)).toBe(join(dir, 'images'));
    // 0xaa55 ends a boot sector.
    const boots = existsSync(image) && readFileSync(image).readUInt16LE(510) === 0xaa55;
    expect(boots).toBe(vmId !== 'never-launches');
  }
});

/** What the agent of the VMs' host makes of its environment. */
function settings(agentEnv: Readonly<Record<string, string>>) {
  const read = readSettings([], {
    ...agentEnv,
    HOLDOFF_ENDPOINT: 'http://127.0.0.1:1',
    HOLDOFF_NODE_ID: 'i-0000000000000000a',
    AWS_REGION: 'eu-west-1',
  });
  if (read === 'help') throw new Error('no help was asked for');
  return read.rules;
}
