/** The demo's processes: the control plane, and a machine for each node. Each is started again if it dies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { resolve } from 'node:path';

const repository = resolve(import.meta.dirname, '../..');

export type Supervised = { name: string; stop: () => Promise<void>; pid: () => number | undefined };

/** How long a process may take to end before it is killed. */
const PATIENCE_MS = 10_000;
const RESTART_AFTER_MS = 1000;

/** Runs a TypeScript entry of this repository as a process of its own, again and again until it is stopped. */
export function supervise(
  name: string,
  entry: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  logFile: string,
  onRestart: (text: string) => void,
): Supervised {
  let child: ChildProcess;
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    const log = openSync(logFile, 'a');
    child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), resolve(repository, entry), ...args], {
      env: { ...process.env, ...env },
      // The channel says nothing: that it closes tells the child that its supervisor is gone (`onSupervisorGone`).
      stdio: ['ignore', log, log, 'ipc'],
      // Ctrl-C reaches the supervisor alone; it ends the others in order.
      detached: true,
    });
    child.once('exit', (code, signal) => {
      if (stopping) return;
      onRestart(`${name} ended (${signal ?? `exit ${code ?? '?'}`}); it is started again. Its log: ${logFile}`);
      timer = setTimeout(start, RESTART_AFTER_MS);
    });
  };
  start();
  return {
    name,
    pid: () => child.pid,
    stop: async () => {
      stopping = true;
      clearTimeout(timer);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise<void>((done) => child.once('exit', () => done()));
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
      await ended;
      clearTimeout(killer);
    },
  };
}
