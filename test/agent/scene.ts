/** One node, its control plane and its agent, for a test: real processes, real files, bounded waits. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import { Machine, type MachineOptions } from '../../local/machine/machine.ts';
import { ControlPlane, KEYS, REGION, type VmRow } from './control-plane.ts';

/** Room for several waits of `until`; nothing is expected to take it. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

export const NODE_ID = 'i-0123456789abcdef0';
const root = resolve(import.meta.dirname, '../..');

/** Builds the agent once per test file; the folder is the caller's to remove. */
export function bundleAgent(): { bundle: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'holdoff-agent-'));
  const bundle = join(folder, 'agent.mjs');
  execFileSync(process.execPath, [join(root, 'agent/build.mjs'), bundle]);
  return { bundle, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Waits until something holds; on the bound it fails with what is known. Nothing is ever measured by it. */
export async function until(what: string, holds: () => boolean, detail: () => unknown = () => ''): Promise<void> {
  const end = Date.now() + 60_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`never came: ${what}; ${JSON.stringify(detail(), null, 1)}`);
    await sleep(20);
  }
}

const FAST: Readonly<Record<string, string>> = {
  HOLDOFF_POLL_EVERY: '0.05s',
  HOLDOFF_NO_PROGRESS_AFTER: '0.5s',
  HOLDOFF_SLOW_RETRY: '0.2s',
  HOLDOFF_ALLOW_EXEC: '1',
};

export class Scene {
  readonly plane = new ControlPlane(NODE_ID);
  readonly dir = mkdtempSync(join(tmpdir(), 'holdoff-node-'));
  readonly #bundle: string;
  #machine: Machine | null = null;

  constructor(bundle: string) {
    this.#bundle = bundle;
  }

  get machine(): Machine {
    if (this.#machine === null) throw new Error('not booted');
    return this.#machine;
  }

  async boot(options: Partial<MachineOptions> = {}): Promise<void> {
    if (this.#machine === null) await this.plane.listen();
    this.#machine = new Machine({
      dir: join(this.dir, 'machine'),
      nodeId: NODE_ID,
      endpoint: this.plane.url,
      region: REGION,
      version: '1.20.5',
      agentCommand: [process.execPath, this.#bundle],
      agentRestartSeconds: 0.1,
      ...options,
      faults: { commandSeconds: 0.1, rebootSeconds: 0.2, ...options.faults },
      agentEnv: { ...KEYS, ...FAST, ...options.agentEnv },
    });
    await this.#machine.start();
  }

  /** Waits until the node's reports have told this story so far, in this order, other lines in between allowed. */
  async told(...lines: string[]): Promise<void> {
    await until(
      lines.join(', '),
      () => inOrder(this.plane.story(), lines),
      () => ({ story: this.plane.story(), log: this.log() }),
    );
  }

  async phases(vmId: string, ...lines: string[]): Promise<void> {
    const seen = (): string[] => this.plane.phases(vmId);
    await until(
      lines.join(', '),
      () => inOrder(seen(), lines),
      () => ({ phases: seen(), log: this.log() }),
    );
  }

  declare(row: Partial<VmRow> & Pick<VmRow, 'launch'>): VmRow {
    const full: VmRow = { vmId: 'web', uid: 'u-1', power: 'on', instanceId: 'a1', graceSeconds: 5, ...row };
    this.plane.vms.set(full.vmId, full);
    return full;
  }

  /** Drops a wake as the SSM document does. */
  wake(wakeId: string, generation: string): void {
    writeFileSync(join(this.dir, 'machine/agent/wake', wakeId), generation);
  }

  /** Text that a guest, or the agent, has written; empty until then. */
  read(name: string): string {
    const file = this.file(name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  /** The pid a guest has written down. */
  async pid(name: string): Promise<number> {
    await until(
      `a pid in ${name}`,
      () => this.read(name).endsWith('\n'),
      () => this.log(),
    );
    return Number(this.read(name));
  }

  /** A pid that the run folder of an instance holds: of its wrapper (`pid`), or of the guest. */
  pidOf(key: string, whose: 'pid' | 'guest'): number {
    return Number(this.read(`machine/guests/instances/${key}/${whose}`));
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  /** The last lines of the agent's log. */
  log(): string[] {
    return this.logLines().slice(-30);
  }

  logLines(): string[] {
    return readFileSync(join(this.dir, 'machine/agent.log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  async close(): Promise<void> {
    await this.#machine?.close();
    await this.plane.close();
    rmSync(this.dir, { recursive: true, force: true });
    if (this.plane.broken.length > 0) throw new AggregateError(this.plane.broken, 'the control plane double broke');
  }
}

function inOrder(seen: readonly string[], wanted: readonly string[]): boolean {
  let next = 0;
  for (const line of seen) if (line === wanted[next]) next += 1;
  return next === wanted.length;
}

/** Whether a process is there and not only its zombie. */
export function alive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/\) [ZX] /.test(stat);
  } catch {
    // No such file: no such process.
    return false;
  }
}
