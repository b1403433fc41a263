/** What a group may have checked on an updated node, and what an agent reads of it (DESIGN section 6, group body `monitor`). */
import { describe, expect, test } from 'vitest';
import { groupBodySchema } from '../../core/policy/group-policy.ts';
import { healthCheckSchema, monitorPolicyOf } from '../../core/policy/monitor.ts';
import { issues } from '../contract/bodies.ts';

const checking = (...checks: object[]) => ({ monitor: { checks } });
const unit = (name: string) => checking({ name: 'a', type: 'systemd', unit: name });
const http = (more: object) => checking({ name: 'a', type: 'http', port: 80, ...more });
const tcp = (name: string) => ({ name, type: 'tcp', port: 1 });
const named = (count: number) => checking(...Array.from({ length: count }, (_none, index) => tcp(`a${index}`)));

describe('a check may be', () => {
  test.each<[string, object]>([
    ['none', checking()],
    ['20', named(20)],
    ['of a service', unit('kubelet.service')],
    ...['socket', 'target', 'mount', 'timer', 'path', 'scope', 'slice'].map((kind): [string, object] => [
      `of a ${kind}`,
      unit(`a.${kind}`),
    ]),
    ['of an instance of a template', unit('getty@tty1.service')],
    ['of a unit with an escaped name', unit(String.raw`dev-disk\x2dby.mount`)],
    ['of a unit with any first letter', unit(':_.@.service')],
    ['of a unit with a name of 201 letters', unit(`${'u'.repeat(201)}.service`)],
    ['of a page', http({})],
    ['of a page by everything', http({ path: '/healthz?a=1', scheme: 'https', status: 204, timeout: '10s' })],
    ['of the first page', http({ path: '/', scheme: 'http' })],
    ['of a path of 1024 letters', http({ path: `/${'p'.repeat(1023)}` })],
    ['of the lowest status', http({ status: 100 })],
    ['of the highest status', http({ status: 599 })],
    ['of the lowest port', http({ port: 1 })],
    ['of the highest port', http({ port: 65_535 })],
    ['of a port', checking(tcp('a'))],
    ['of a hook', checking({ name: 'a', type: 'exec', hook: 'check-it' })],
    ['rolled back', { monitor: { onFailure: 'rollback' } }],
    ['reported alone', { monitor: { onFailure: 'report' } }],
  ])('%s', (_what, body) => {
    expect(issues(groupBodySchema, body)).toEqual([]);
  });
});

describe('a check is refused, by path,', () => {
  test.each<[string, object, string]>([
    ['of another kind', checking({ name: 'a', type: 'icmp' }), 'monitor.checks.0.type'],
    ['without a name', checking({ type: 'tcp', port: 1 }), 'monitor.checks.0.name'],
    ['with a name that is none', checking(tcp('A b')), 'monitor.checks.0.name'],
    ['with no time', http({ timeout: '0s' }), 'monitor.checks.0.timeout'],
    ['of another machine', http({ host: '10.0.0.1' }), 'monitor.checks.0'],
    ['of a port and more', checking({ ...tcp('a'), host: '10.0.0.1' }), 'monitor.checks.0'],
    ['of a unit and more', checking({ name: 'a', type: 'systemd', unit: 'a.service', user: 'b' }), 'monitor.checks.0'],
    ['of a hook and more', checking({ name: 'a', type: 'exec', hook: 'a', args: [] }), 'monitor.checks.0'],
    ['of a hook that is a path', checking({ name: 'a', type: 'exec', hook: '/bin/sh' }), 'monitor.checks.0.hook'],
    ['of port 0', http({ port: 0 }), 'monitor.checks.0.port'],
    ['of port 65536', http({ port: 65_536 }), 'monitor.checks.0.port'],
    ['of half a port', http({ port: 1.5 }), 'monitor.checks.0.port'],
    ['of status 99', http({ status: 99 }), 'monitor.checks.0.status'],
    ['of status 600', http({ status: 600 }), 'monitor.checks.0.status'],
    ['of another scheme', http({ scheme: 'ftp' }), 'monitor.checks.0.scheme'],
    ['where there are 21', named(21), 'monitor.checks'],
    ['with another end', { monitor: { onFailure: 'ignore' } }, 'monitor.onFailure'],
    ['and more', { monitor: { every: '1s' } }, 'monitor'],
  ])('%s', (_what, body, path) => {
    expect(issues(groupBodySchema, body).map((issue) => issue.split(': ')[0])).toEqual([path]);
  });

  test.each([
    'kubelet',
    'kubelet.device',
    '.service',
    '-a.service',
    'a b.service',
    'a/b.service',
    'kubelet.service ',
    ' kubelet.service',
    `${'u'.repeat(202)}.service`,
  ])('of a unit %j', (name) => {
    expect(issues(groupBodySchema, unit(name))).toEqual([
      'monitor.checks.0.unit: must be the full name of a systemd unit, such as kubelet.service',
    ]);
  });

  test.each(['', 'healthz', 'http://10.0.0.1/', '/a b', '/ä', '/a\n', `/${'p'.repeat(1024)}`])(
    'of a path %j',
    (path) => {
      expect(issues(groupBodySchema, http({ path }))).toEqual([
        'monitor.checks.0.path: must begin with / and hold no space',
      ]);
    },
  );

  test('of a name that another has: a failure is reported by name', () => {
    expect(issues(groupBodySchema, checking(tcp('a'), tcp('b'), tcp('a')))).toEqual([
      'monitor.checks: must have names of their own: a failure is reported by name',
    ]);
  });

  test('that may take as long as the whole step, the default time included', () => {
    const slow =
      'must be shorter than the deadline of MonitoringUpdate (5m unless set), in which it has to pass; the default is 5s';
    const body = (timeout: string | undefined, MonitoringUpdate: string) => ({
      ...checking({ ...tcp('a'), ...(timeout === undefined ? {} : { timeout }) }),
      deadlines: { MonitoringUpdate },
    });
    expect(issues(groupBodySchema, body(undefined, '5s'))).toEqual([`monitor.checks.0.timeout: ${slow}`]);
    expect(issues(groupBodySchema, body(undefined, '6s'))).toEqual([]);
    expect(issues(groupBodySchema, body('1m', '1m'))).toEqual([`monitor.checks.0.timeout: ${slow}`]);
    expect(issues(groupBodySchema, http({ timeout: '5m' }))).toEqual([`monitor.checks.0.timeout: ${slow}`]);
  });
});

describe('what a node carries of it', () => {
  test('nothing, where nothing is to be checked', () => {
    expect(monitorPolicyOf(undefined)).toBeNull();
    expect(monitorPolicyOf({ soak: '1m', onFailure: 'report' })).toBeNull();
    expect(monitorPolicyOf({ checks: [] })).toBeNull();
  });

  test('every check with its time, which is 5 s unless given, and a rollback unless said otherwise', () => {
    const checks = [
      { name: 'a', type: 'tcp' as const, port: 1 },
      { name: 'b', type: 'http' as const, port: 2, path: '/', timeout: '1m' },
    ];
    const told = [
      { name: 'a', type: 'tcp', port: 1, timeoutSeconds: 5 },
      { name: 'b', type: 'http', port: 2, path: '/', timeoutSeconds: 60 },
    ];
    expect(monitorPolicyOf({ checks })).toEqual({ checks: told, onFailure: 'rollback' });
    expect(monitorPolicyOf({ checks, onFailure: 'report' })).toEqual({ checks: told, onFailure: 'report' });
  });
});

describe('what an agent reads of a check', () => {
  test.each<object>([
    { type: 'systemd', unit: 'kubelet.service' },
    { type: 'http', port: 80, path: '/', scheme: 'https', status: 200 },
    { type: 'tcp', port: 80 },
    { type: 'exec', hook: 'check-it' },
  ])('%j: what a newer control plane adds is left alone', (check) => {
    const told = { ...check, name: 'a', timeoutSeconds: 0.5 };
    expect(healthCheckSchema.parse({ ...told, retries: 3 })).toEqual(told);
  });

  test.each<[string, object]>([
    ['of an unknown kind', { type: 'icmp', name: 'a', timeoutSeconds: 5 }],
    ['without a name', { type: 'tcp', port: 1, timeoutSeconds: 5 }],
    ['without a time', { type: 'tcp', port: 1, name: 'a' }],
    ['with no time at all', { type: 'tcp', port: 1, name: 'a', timeoutSeconds: 0 }],
  ])('%s it is none that it can do', (_what, check) => {
    expect(healthCheckSchema.safeParse(check).success).toBe(false);
  });
});
