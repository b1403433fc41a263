/** How far agent and control plane may be apart. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { saySkew, VERSION } from '../../core/contract/skew.ts';

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(VERSION).toBe(version);
});

test.each([
  ['0.4.0', null],
  ['0.4.7', null],
  ['v0.4', null],
  ['0.3.9', null],
  ['0.5.0', null],
  ['0.5.0-rc.1', null],
  ['0.2.9', 'the agent'],
  ['0.6.0', 'the control plane'],
  ['0.6', 'the control plane'],
  ['0.12.0', 'the control plane'],
  ['1.4.0', 'the control plane'],
  ['1.0.0', 'the control plane'],
  ['12.4.0', 'the control plane'],
  ['is 0.9.0', null],
  ['0.9rc', null],
  ['unknown', null],
  ['', null],
  [null, null],
])('an agent %j beside a control plane 0.4.2', (agent, update) => {
  const apart = `Its agent is ${String(agent)} and the control plane 0.4.2, more than one minor version apart: update ${String(update)}.`;
  expect(saySkew(agent, '0.4.2')).toBe(update === null ? null : apart);
});

test('a control plane of the next major version asks for the agent, and says nothing of a version it cannot read', () => {
  expect(saySkew('0.9.0', '1.0.0')).toContain('update the agent');
  expect(saySkew('0.9.0', '0.11.0')).toContain('update the agent');
  expect(saySkew('0.10.0', '0.11.0')).toBeNull();
  expect(saySkew('10.0.0', '12.0.0')).toContain('update the agent');
  expect(saySkew('0.9.0', 'dev')).toBeNull();
});
