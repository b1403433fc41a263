/** The agent's credentials: those of a file are read again, since SSM replaces them in place on hybrid nodes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defaultIdentity } from '../../agent/api/credentials.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdoff-credentials-'));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(dir, 'credentials'));
  vi.stubEnv('AWS_CONFIG_FILE', join(dir, 'config'));
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

const rotate = (key: string): void =>
  writeFileSync(
    join(dir, 'credentials'),
    `[default]\naws_access_key_id = ${key}\naws_secret_access_key = secret\naws_session_token = token\n`,
  );

test('keys of a file are those that stand in it, at most a minute later', async () => {
  let now = 0;
  rotate('FIRST');
  const identity = defaultIdentity({}, () => now);
  expect((await identity()).accessKeyId).toBe('FIRST');
  rotate('SECOND');
  now = 59_999;
  expect((await identity()).accessKeyId).toBe('FIRST');
  now = 60_000;
  expect((await identity()).accessKeyId).toBe('SECOND');
});

test('keys of the environment are taken as they are', async () => {
  const env = { AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 'B' };
  expect(await defaultIdentity(env)()).toEqual({ accessKeyId: 'A', secretAccessKey: 'B' });
});
