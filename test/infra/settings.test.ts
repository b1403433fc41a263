import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SETTING_NAMES, settingsOf } from '../../infra/settings.ts';

const given = (context: Readonly<Record<string, unknown>>) => settingsOf((name) => context[name]);

test('nothing has to be set', () => {
  expect(given({})).toEqual({
    prefix: 'holdoff',
    alarmEmail: undefined,
    nodeRoles: [],
    nodeTag: undefined,
    removalPolicy: 'retain',
    idleReportSeconds: 1200,
    activeReportSeconds: 15,
    apiRequestsPerSecond: 500,
    peopleRequestsPerSecond: 100,
    encryptionKey: undefined,
    timerConcurrency: undefined,
    sweepConcurrency: undefined,
    tableUnitsPerSecondMax: 4000,
    logDays: 30,
    ssmEndpoint: undefined,
    agentImage: undefined,
    runbooks: undefined,
    tags: {},
    domain: undefined,
    restoredTable: undefined,
  });
});

test('numbers and lists may come as text, as they do with -c', () => {
  expect(given({ nodeRoles: 'Web, Db', logDays: '7', nodeTag: 'env=prod' })).toMatchObject({
    nodeRoles: ['Web', 'Db'],
    logDays: 7,
    nodeTag: { key: 'env', value: 'prod' },
  });
  expect(given({ nodeRoles: ['Web'] }).nodeRoles).toEqual(['Web']);
});

test('tags, and a domain with what belongs to it', () => {
  const certificate = 'arn:aws-cn:acm:cn-north-1:123456789012:certificate/11111111-2222-3333-4444-555555555555';
  expect(given({ tags: 'team=os,cost=a=b' }).tags).toEqual({ team: 'os', cost: 'a=b' });
  expect(given({ domain: 'holdoff.corp.example', domainCertificate: certificate }).domain).toEqual({
    name: 'holdoff.corp.example',
    certificateArn: certificate,
    hostedZoneId: undefined,
  });
  expect(() => given({ domain: 'holdoff.corp.example' })).toThrow(/context domainCertificate/);
  expect(() => given({ domainCertificate: certificate })).toThrow(/context domain:/);
});

describe('what cannot be used is refused with its name', () => {
  test.each([
    ['prefix', 'Has Capitals'],
    ['prefix', 'a-prefix-that-is-too-long-for-names'],
    ['prefix', 'aws-holdoff'],
    ['prefix', 'amazon'],
    ['prefix', 'amznodes'],
    ['encryptionKey', 'alias/holdoff'],
    ['timerConcurrency', '0'],
    ['peopleRequestsPerSecond', '0'],
    ['alarmEmail', 'nobody'],
    ['nodeRoles', 'arn:aws:iam::123456789012:role/Web'],
    ['nodeTag', 'env'],
    ['removalPolicy', 'snapshot'],
    ['idleReportSeconds', '1'],
    ['activeReportSeconds', 'soon'],
    ['apiRequestsPerSecond', '0'],
    ['tableUnitsPerSecondMax', '1e9'],
    ['logDays', '31'],
    ['ssmEndpoint', 'http://ssm.example'],
    ['ssmEndpoint', 'https://ssm.example/path'],
    ['runbooks', 'docs/runbooks'],
    ['tags', 'env'],
    ['domain', 'not a name'],
    ['domainCertificate', 'arn:aws:iam::123456789012:role/x'],
    ['domainHostedZone', 'example.com'],
    ['restoredTable', 'a b'],
  ])('%s: %s', (name, value) => {
    expect(() => given({ [name]: value })).toThrow(new RegExp(`context ${name}`));
  });
});

test('docs/settings.md has a line for each', () => {
  const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(documented).toEqual(SETTING_NAMES);
});
