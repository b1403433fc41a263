import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WAKE_DOCUMENT } from '../../core/contract/wake-document.ts';
import { bindParameters, bindStep, checkDocument } from '../../local/aws/ssm-document.ts';
import { runStep, type ShellResult } from '../../local/aws/ssm-shell.ts';
import { dataDir } from './surroundings.ts';

interface Wake {
  readonly directory: string;
  readonly wakeId?: string;
  readonly agentTakesVariables?: boolean;
  readonly path?: string;
}

function wake({ directory, wakeId = 'w-1', agentTakesVariables = true, path }: Wake): Promise<ShellResult> {
  const values = bindParameters(WAKE_DOCUMENT, { wakeId: [wakeId], generation: ['7'] });
  const [step] = WAKE_DOCUMENT.mainSteps;
  const environment = { HOLDOFF_AGENT_DIR: directory, ...(path === undefined ? {} : { PATH: path }) };
  return runStep(bindStep(WAKE_DOCUMENT, step, values, agentTakesVariables), environment);
}

function agentDirectory(): string {
  const directory = dataDir();
  mkdirSync(join(directory, 'wake'));
  return directory;
}

describe('the wake document', () => {
  it('is one that SSM takes', () => {
    expect(() => checkDocument('wake', WAKE_DOCUMENT)).not.toThrow();
  });

  it('leaves a file named by the wake, with the generation in it, and nothing else', async () => {
    const directory = agentDirectory();
    expect(await wake({ directory })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readdirSync(join(directory, 'wake'))).toEqual(['w-1']);
    expect(readFileSync(join(directory, 'wake', 'w-1'), 'utf8')).toBe('7');
  });

  it('can be run again with the same wake', async () => {
    const directory = agentDirectory();
    await wake({ directory });
    expect(await wake({ directory })).toMatchObject({ exitCode: 0 });
  });

  it('takes an id that begins with a hyphen for a name, not for an option', async () => {
    const directory = agentDirectory();
    expect(await wake({ directory, wakeId: '-rf' })).toMatchObject({ exitCode: 0 });
    expect(readdirSync(join(directory, 'wake'))).toEqual(['-rf']);
  });

  it('fails with the version it needs when the SSM agent is too old to pass the parameters', async () => {
    const directory = agentDirectory();
    const result = await wake({ directory, agentTakesVariables: false });
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain('SSM Agent 3.3.2746.0');
    expect(readdirSync(join(directory, 'wake'))).toEqual([]);
  });

  it('fails when the agent is not running', async () => {
    const result = await wake({ directory: dataDir() });
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain('the agent is not running on this node');
  });

  it('goes through apiclient exec when there is the host container', async () => {
    const directory = agentDirectory();
    const path = withApiclient(`[ "$1 $2 $3" = "exec -T holdoff" ] || exit 2; shift 3; "$@"`);
    expect(await wake({ directory, path })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readFileSync(join(directory, 'wake', 'w-1'), 'utf8')).toBe('7');
  });

  it('writes the file itself when apiclient knows no such container', async () => {
    const directory = agentDirectory();
    expect(await wake({ directory, path: withApiclient('exit 1') })).toMatchObject({ exitCode: 0 });
    expect(readdirSync(join(directory, 'wake'))).toEqual(['w-1']);
  });

  it('never ends with 194, which would reboot the node', async () => {
    const path = withApiclient('[ "$4" = true ] || exit 194');
    expect(await wake({ directory: agentDirectory(), path })).toMatchObject({ exitCode: 1 });
  });

  it.each([
    ['wakeId', '../evil'],
    ['wakeId', 'a b'],
    ['wakeId', 'a\n'],
    ['generation', '1.5'],
    ['generation', '-1'],
  ])('takes no %s of %j', (name, value) => {
    const given = { wakeId: ['w-1'], generation: ['7'], [name]: [value] };
    expect(() => bindParameters(WAKE_DOCUMENT, given)).toThrow(/does not match/);
  });
});

/** A path that begins with a directory in which `apiclient` is this script. */
function withApiclient(script: string): string {
  const directory = dataDir();
  const file = join(directory, 'apiclient');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return `${directory}:${process.env['PATH'] ?? ''}`;
}
