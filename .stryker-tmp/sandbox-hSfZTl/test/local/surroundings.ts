// @ts-nocheck
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { EmbeddedNotice } from '../../local/aws/errors.ts';

export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';

/** What every SDK client of these tests has: the stand-ins look at the scope of a signature, not at the key. */
export const CLIENT = {
  region: REGION,
  credentials: { accessKeyId: 'LOCALTEST', secretAccessKey: 'not-checked' },
  maxAttempts: 1,
};

/** A data directory of this test alone. */
export function dataDir(): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdoff-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export interface TestSurroundings {
  readonly region: string;
  readonly accountId: string;
  readonly notices: EmbeddedNotice[];
  readonly notify: (notice: EmbeddedNotice) => void;
}

export function surroundings(): TestSurroundings {
  const notices: EmbeddedNotice[] = [];
  return { region: REGION, accountId: ACCOUNT, notices, notify: (notice) => notices.push(notice) };
}

/** Closes something when the test is over, and hands it back. */
export function closing<T extends { readonly stop?: () => Promise<void>; readonly close: () => Promise<void> }>(
  it: T,
): T {
  onTestFinished(async () => {
    await it.stop?.();
    await it.close();
  });
  return it;
}

/** Waits until something holds, with a bound that only a broken program reaches. */
export const until = (holds: () => boolean): Promise<boolean> => vi.waitUntil(holds, { timeout: 15_000, interval: 10 });

/** The code of the error a call ends with. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
  return 'no error';
}
