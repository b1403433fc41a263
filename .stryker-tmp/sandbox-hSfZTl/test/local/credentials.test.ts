// @ts-nocheck
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCredentials } from '../../local/aws/credentials.ts';
import { dataDir } from './surroundings.ts';

describe('the table of credentials', () => {
  it('is made with an operator, in a file that only its owner can read', () => {
    const file = join(dataDir(), 'below', 'credentials.json');
    const { userArn } = openCredentials({ file }).operator();
    expect(userArn).toBe('arn:aws:iam::000000000000:user/operator');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('gives each node one credential of its own, the same after a restart', () => {
    const file = join(dataDir(), 'credentials.json');
    const table = openCredentials({ file });
    const a = table.node('i-00000001');
    const b = table.node('i-00000002');
    expect(a.userArn).toBe('arn:aws:sts::000000000000:assumed-role/HoldoffNode/i-00000001');
    expect(a.userId).toMatch(/^AROA[A-Z2-7]{16}:i-00000001$/);
    expect(a.sessionToken).toBeDefined();
    expect(new Set([a.secretAccessKey, b.secretAccessKey, table.operator().secretAccessKey]).size).toBe(3);
    const again = openCredentials({ file });
    expect(again.node('i-00000001')).toEqual(a);
    expect(again.operator()).toEqual(table.operator());
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('sees what another process has added to the file, or taken from it', () => {
    const file = join(dataDir(), 'credentials.json');
    const table = openCredentials({ file });
    const added = openCredentials({ file }).node('i-00000001');
    expect(table.find(added.accessKeyId)).toEqual(added);
    writeFileSync(file, '[]');
    expect(table.find(added.accessKeyId)).toBeNull();
  });

  it('refuses a file that is no table, and leaves it as it is', () => {
    const file = join(dataDir(), 'credentials.json');
    writeFileSync(file, '[{"accessKeyId":"short"}]');
    expect(() => openCredentials({ file })).toThrow(/not a table of credentials/);
    expect(readFileSync(file, 'utf8')).toBe('[{"accessKeyId":"short"}]');
  });
});
