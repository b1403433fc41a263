// @ts-nocheck
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { BoundStep } from './ssm-document.ts';

export interface ShellResult {
  /** -1 when the script was killed at its time-out. */
  readonly exitCode: number;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

// What GetCommandInvocation gives back of the output (facts/aws-services.md, section 2).
const STDOUT_MAX = 24_000;
const STDERR_MAX = 8_000;

/** Runs a step as the agent does: the script in a file of its own, by `sh`, in the node's environment and not in ours. */
export async function runStep(step: BoundStep, environment: Readonly<Record<string, string>>): Promise<ShellResult> {
  const directory = mkdtempSync(join(tmpdir(), 'holdoff-ssm-'));
  try {
    const script = join(directory, '_script.sh');
    writeFileSync(script, `${step.script}\n`, { mode: 0o700 });
    return await runScript(script, step, environment);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runScript(
  script: string,
  step: BoundStep,
  environment: Readonly<Record<string, string>>,
): Promise<ShellResult> {
  const child = spawn('sh', [script], {
    cwd: step.workingDirectory ?? '/',
    // Our own environment may hold keys; a script gets the path only.
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...environment, ...step.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let timedOut = false;
  const deadline = setTimeout(() => {
    timedOut = true;
    killGroup(child);
  }, step.timeoutMs);
  try {
    const [stdout, stderr] = [collect(child.stdout, STDOUT_MAX), collect(child.stderr, STDERR_MAX)];
    await once(child, 'close');
    const exitCode = timedOut ? -1 : (child.exitCode ?? 1);
    return { exitCode, timedOut, stdout: stdout(), stderr: stderr() };
  } catch (error) {
    // The shell could not be started, e.g. for want of its working directory: the agent has that as a failure too.
    return { exitCode: 1, timedOut: false, stdout: '', stderr: String(error) };
  } finally {
    clearTimeout(deadline);
  }
}

/** Kills a script and the children it started: detached, it leads a group of its own. */
function killGroup(child: ChildProcessByStdio<null, Readable, Readable>): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // Nobody is left in the group; someone who left it may still hold the pipes.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
  child.stdout.destroy();
  child.stderr.destroy();
}

/** Gathers the beginning of what a stream says. */
function collect(stream: Readable, max: number): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    if (text.length < max) text = (text + chunk).slice(0, max);
  });
  return () => text;
}
