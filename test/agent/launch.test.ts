import { describe, expect, test } from 'vitest';
import { type LaunchRules, refusalOf } from '../../agent/host/launch.ts';
import { consoleFile } from '../../agent/host/libvirt/console.ts';
import { domainState, type DomainState } from '../../agent/host/libvirt/states.ts';
import { USUAL_OPTIONS } from '../../agent/host/qemu/arguments.ts';
import { qemuCommand } from '../../agent/host/qemu/command.ts';
import { guestState, type GuestState } from '../../agent/host/qemu/status.ts';

const rules: LaunchRules = {
  allowExec: false,
  qemu: { program: '/usr/bin/qemu', options: USUAL_OPTIONS, devices: [], dirs: ['/srv/images'] },
  libvirt: { uri: 'qemu:///system', virsh: 'virsh', domains: ['web-*', 'db'] },
};
/** How a guest has ended, what keeps it from running, or what it is. */
function meaningOf(state: GuestState | DomainState): string {
  if (state.kind === 'ended') return state.cause;
  return state.kind === 'present' ? (state.condition ?? state.kind) : state.kind;
}
const qemu = (...args: string[]): string | null => refusalOf({ type: 'qemu', args }, rules);
const libvirt = (domain: string): string | null => refusalOf({ type: 'libvirt', domain }, rules);

describe('arguments of QEMU that a host runs', () => {
  test.each([
    ['a machine, memory, a disk', ['-machine', 'q35', '-m', '512', '-drive', 'file=/srv/images/a.qcow2,if=virtio']],
    ['a kernel with its command line', ['-kernel', '/srv/images/vmlinuz', '-append', 'root=/dev/vda init=/bin/sh']],
    ['two hyphens', ['--nodefaults', '--cdrom', '/srv/images/cd.iso']],
    ['a network', ['-netdev', 'user,id=n,hostfwd=tcp::2222-:22', '-device', 'virtio-net,netdev=n']],
  ])('%s', (_what, args) => {
    expect(qemu(...args)).toBeNull();
  });
});

describe('arguments of QEMU that no host runs', () => {
  test.each([
    ['another QMP', ['-qmp', 'tcp:localhost:4444,server'], /-qmp is refused: the agent has the only QMP/],
    ['a monitor', ['-monitor', 'stdio'], /-monitor is refused/],
    ['a monitor on a serial port', ['-device', 'isa-serial', '-drive', 'mon:stdio'], /multiplexed monitors/],
    ['going to the background', ['--daemonize'], /-daemonize is refused: QEMU must stay the child/],
    ['what follows a shutdown', ['-action', 'shutdown=poweroff'], /-action is refused/],
    ['waiting to be told to run', ['-S'], /-S is refused/],
    ['options in a file', ['-readconfig', '/srv/images/x'], /-readconfig is refused/],
    ['a debugger', ['-s'], /-s is refused/],
    ['an option the host has not allowed', ['-chardev', 'null,id=a'], /-chardev is not among/],
    ['a file elsewhere', ['-drive', 'file=/etc/shadow,format=raw'], /names \/etc\/shadow, which is not/],
    ['a way out of the directory', ['-kernel', '/srv/images/../../etc/shadow'], /which is not an absolute path in/],
    ['a directory that only begins alike', ['-hda', '/srv/images2/a.img'], /which is not/],
    ['a relative file', ['-hda', 'instance.json'], /names instance.json/],
    ['a file by a protocol', ['-drive', 'file=nbd:unix:/run/x'], /names nbd:unix:\/run\/x/],
    ['a file behind an escaped comma', ['-drive', 'file=/srv/images/a,,file=/etc/shadow'], /escaped comma/],
    ['JSON', ['-blockdev', '{"driver":"file","filename":"/etc/shadow"}'], /JSON/],
    ['a program of the host', ['-netdev', 'tap,id=n,script=/tmp/x'], /script=\/tmp\/x is not allowed: only no/],
    [
      'a program behind a forwarded port',
      ['-netdev', 'user,guestfwd=tcp:1.2.3.4:1-cmd:sh'],
      /guestfwd is not among the keys/,
    ],
    ['an argument of no option', ['/srv/images/a.img'], /belongs to no option/],
    ['an argument behind a switch', ['-nographic', 'instance.json'], /belongs to no option/],
    ['a NUL', ['-m', '1\0'], /NUL/],
  ])('%s', (_what, args, why) => {
    expect(qemu(...args)).toMatch(why);
  });
});

test('the agent adds its control socket, a console, and that a dead guest stays until it was seen', () => {
  expect(qemuCommand('/usr/bin/qemu', ['-m', '16']).join(' ')).toBe(
    '/usr/bin/qemu -m 16 -display none -serial stdio -monitor none -chardev socket,id=holdoff-qmp,path=qmp.sock,server=on,wait=off -mon chardev=holdoff-qmp,mode=control -chardev pipe,id=holdoff-wrapper,path=ctl -mon chardev=holdoff-wrapper,mode=control -action shutdown=pause,panic=pause,watchdog=pause',
  );
  expect(qemuCommand('/usr/bin/qemu', ['--nographic'])).not.toContain('stdio');
});

test.each([
  ['running', 'running'],
  ['paused', 'Suspended'],
  ['suspended', 'Suspended'],
  ['io-error', 'IoError'],
  ['save-vm', 'Paused'],
  ['prelaunch', 'present'],
  ['shutdown', 'GuestShutdown'],
  ['guest-panicked', 'GuestPanic'],
  ['internal-error', 'Unhealthy'],
  ['watchdog', 'Unhealthy'],
])('QEMU says %s: %s', (status, meaning) => {
  const state = guestState(status);
  expect(meaningOf(state)).toBe(meaning);
});

test.each([
  ['guest-shutdown', 'GuestShutdown'],
  // With -no-reboot a reset is a shutdown to QEMU.
  ['guest-reset', 'GuestReset'],
  ['guest-panic', 'GuestPanic'],
  ['host-signal', 'Killed'],
  ['host-qmp-quit', 'Killed'],
])('QEMU shut down because of %s: %s', (reason, meaning) => {
  expect(meaningOf(guestState('shutdown', reason))).toBe(meaning);
});

describe('domains of libvirt', () => {
  test.each(['web-1', 'db', 'web-'])('%s may be launched', (name) => {
    expect(libvirt(name)).toBeNull();
  });

  test.each([
    ['db2', /not among those this host allows/],
    ['-web-', /not among/],
    ['web.1', /not among/],
    ['web-\n', /control character/],
    ['7', /named by a number or UUID/],
    ['ccf0fc5c-b5a0-4c7e-b8da-d2d5276847cc', /number or UUID/],
  ])('%j: %s', (name, why) => {
    expect(libvirt(name)).toMatch(why);
  });

  test.each([
    ['running (booted)', 'running'],
    ['paused (user)', 'Suspended'],
    ['paused (I/O error)', 'IoError'],
    ['paused (watchdog)', 'Unhealthy'],
    ['paused (migrating)', 'Paused'],
    ['paused (starting up)', 'present'],
    ['pmsuspended (unknown)', 'Suspended'],
    ['in shutdown (user)', 'present'],
    ['shut off (shutdown)', 'GuestShutdown'],
    ['shut off (destroyed)', 'Killed'],
    ['shut off (crashed)', 'Killed'],
    ['shut off (failed)', 'Killed'],
    ['shut off', 'Killed'],
    ['crashed (panicked)', 'GuestPanic'],
    ['no state', 'unreadable'],
    ['', 'unreadable'],
  ])('virsh says %j: %s', (text, meaning) => {
    expect(meaningOf(domainState(text))).toBe(meaning);
  });

  test.each([
    [`<serial type='file'><source path='/var/log/a&amp;b.log' append='on'/></serial>`, '/var/log/a&b.log'],
    [`<serial type='pty'><log file='/var/log/web.log' append='off'/></serial>`, '/var/log/web.log'],
    [`<disk type='file'><source file='/x'/></disk><console type='pty'><target/></console>`, null],
  ])('the console of %s', (xml, file) => {
    expect(consoleFile(xml)).toBe(file);
  });
});
