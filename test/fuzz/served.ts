/** The control plane as a process of its own, so that the fuzzer has a core to itself and its log a file. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type CredentialTable, openCredentials } from '../../local/aws/credentials.ts';

const PATIENCE_MS = 120_000;

export type Served = {
  endpoint: string;
  region: string;
  credentials: CredentialTable;
  /** Where its log is. */
  log: string;
  stop: () => Promise<void>;
};

/** Starts the control plane of `npm start`, without a demo, and waits until it is there. */
export async function serve(dataDir: string): Promise<Served> {
  const log = join(dataDir, 'control-plane.log');
  const output = openSync(log, 'w');
  const root = resolve(import.meta.dirname, '../..');
  const child = spawn(process.execPath, ['--import', 'tsx', 'local/control-plane-process.ts'], {
    cwd: root,
    env: { ...process.env, HOLDOFF_DATA: dataDir, HOLDOFF_PORT: '0', HOLDOFF_SWEEP_SECONDS: '5' },
    stdio: ['ignore', output, output],
  });
  const endpoint = await ready(child, log);
  return {
    endpoint,
    // The Region and the file of the embedded AWS.
    region: 'us-east-1',
    credentials: openCredentials({ file: join(dataDir, 'credentials.json') }),
    log,
    stop: async () => {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function ready(child: ChildProcess, log: string): Promise<string> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await wait(100)) {
    const endpoint = /"ready":true,"endpoint":"([^"]+)"/.exec(readFileSync(log, 'utf8'))?.[1];
    if (endpoint !== undefined) return endpoint;
    if (child.exitCode !== null) break;
  }
  throw new Error(`the control plane did not start: ${readFileSync(log, 'utf8')}`);
}
