/** Where the deployment test works: one temporary directory, an environment that knows nothing of the user's. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Environment } from './processes.ts';

export const REPOSITORY = resolve(import.meta.dirname, '../..');
/** Of the emulator: its own default account, and a Region. */
export const ACCOUNT = '000000000000';
export const REGION = 'us-east-1';
/** The emulator takes an account id as the key of that account's root. */
export const ROOT = { accessKeyId: ACCOUNT, secretAccessKey: 'test' } as const;

export interface Workshop {
  readonly directory: string;
  /** A path below it. */
  readonly path: (...parts: string[]) => string;
  /** For programs that must not see the user's AWS settings, proxies or caches. */
  readonly environment: Environment;
  readonly remove: () => void;
}

export function openWorkshop(): Workshop {
  const directory = mkdtempSync(join(tmpdir(), 'holdoff-deploy-'));
  const path = (...parts: string[]): string => join(directory, ...parts);
  for (const folder of ['home', 'tmp', 'logs', 'managed', 'nodes', 'documents']) mkdirSync(path(folder));
  return {
    directory,
    path,
    environment: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: path('home'),
      TMPDIR: path('tmp'),
      LANG: 'C.UTF-8',
      CI: 'true',
      AWS_REGION: REGION,
      AWS_EC2_METADATA_DISABLED: 'true',
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      CDK_DISABLE_VERSION_CHECK: 'true',
      npm_config_update_notifier: 'false',
      npm_config_offline: 'true',
    },
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** A port of 127.0.0.1 that nobody has at this moment. */
export function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const server = createServer();
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = address === null || typeof address === 'string' ? 0 : address.port;
      server.close(() => done(port));
    });
  });
}
