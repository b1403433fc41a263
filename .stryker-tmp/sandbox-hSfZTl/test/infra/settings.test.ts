// @ts-nocheck
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
    idleReportSeconds: 900,
    activeReportSeconds: 15,
    apiRequestsPerSecond: 500,
    tableUnitsPerSecondMax: 4000,
    logDays: 30,
    runbooks: 'docs/runbooks/',
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

describe('what cannot be used is refused with its name', () => {
  test.each([
    ['prefix', 'Has Capitals'],
    ['prefix', 'a-prefix-that-is-too-long-for-names'],
    ['alarmEmail', 'nobody'],
    ['nodeRoles', 'arn:aws:iam::123456789012:role/Web'],
    ['nodeTag', 'env'],
    ['removalPolicy', 'snapshot'],
    ['idleReportSeconds', '1'],
    ['activeReportSeconds', 'soon'],
    ['apiRequestsPerSecond', '0'],
    ['tableUnitsPerSecondMax', '1e9'],
    ['logDays', '31'],
    ['runbooks', 'docs/runbooks'],
  ])('%s: %s', (name, value) => {
    expect(() => given({ [name]: value })).toThrow(new RegExp(`context ${name}`));
  });
});

test('docs/settings.md has a line for each', () => {
  const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(documented).toEqual(SETTING_NAMES);
});
