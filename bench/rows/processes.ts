/** What is measured in a process of its own, by its CPU time: what else runs on the machine is not counted. */
import { execFileSync } from 'node:child_process';

const LONGEST_MS = 60_000;

/**
 * CPU milliseconds of importing a file, without the start of Node itself.
 * @param env what the file reads of its environment when it is loaded
 */
export function importCpuMs(file: string, env: Readonly<Record<string, string>> = {}): number {
  const script = `const from = process.cpuUsage(); await import(${JSON.stringify(file)}); const { user, system } = process.cpuUsage(from); process.stdout.write(String(user + system)); process.exit(0)`;
  const options = { encoding: 'utf8', timeout: LONGEST_MS, env: { ...process.env, ...env } } as const;
  return Number(execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], options)) / 1000;
}

/** CPU and wall milliseconds of a whole process, from its start to its end. */
export function processMs(args: readonly string[]): { cpu: number; wall: number } {
  const from = performance.now();
  // Node tells nothing of the CPU time of a child that has ended; the shell does.
  const script = 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1';
  const output = execFileSync('bash', ['-c', `{ ${script}; } 2>&1`, 'bash', process.execPath, ...args], {
    encoding: 'utf8',
    timeout: LONGEST_MS,
  });
  const [user = Number.NaN, system = Number.NaN] = output.trim().split(' ').map(Number);
  return { cpu: (user + system) * 1000, wall: performance.now() - from };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
