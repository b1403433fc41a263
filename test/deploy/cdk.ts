/** The CDK's own command line, as README tells the user to call it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Emulator } from './emulator.ts';
import { mustRun, run, type Ran } from './processes.ts';
import { ACCOUNT, REGION, REPOSITORY, type Workshop } from './workshop.ts';

const CLI = join(REPOSITORY, 'node_modules', 'aws-cdk', 'bin', 'cdk');

export interface Cdk {
  /** Synthesises with the settings given, into an assembly of that name; answers its directory. */
  readonly synth: (name: string, settings: Readonly<Record<string, string>>) => Promise<string>;
  /** Prepares the account for deployments. */
  readonly bootstrap: (assembly: string) => Promise<string>;
  /** Deploys both stacks of an assembly. */
  readonly deploy: (assembly: string) => Promise<string>;
  /** What deploying would change; exit code 1 when it is anything. */
  readonly diff: (assembly: string) => Promise<Ran>;
  readonly destroy: (assembly: string) => Promise<string>;
  /** The outputs of the control plane's stack, as the last deployment wrote them. */
  readonly outputs: () => Readonly<Record<string, string>>;
}

const Outputs = z.record(z.string(), z.record(z.string(), z.string()));

export function openCdk(workshop: Workshop, emulator: Emulator): Cdk {
  const outputs = workshop.path('outputs.json');
  const options = {
    cwd: REPOSITORY,
    env: emulator.environment,
    log: workshop.path('logs', 'cdk.log'),
    timeoutSeconds: 600,
  };
  const words = (...args: string[]): string[] => [CLI, ...args, '--no-notices', '--no-color'];
  const cdk = (...args: string[]): Promise<string> => mustRun(process.execPath, words(...args), options);
  return {
    bootstrap: (assembly) => cdk('bootstrap', `aws://${ACCOUNT}/${REGION}`, '--app', assembly),
    synth: async (name, settings) => {
      const assembly = workshop.path(`cdk-${name}`);
      const context = Object.entries(settings).flatMap(([key, value]) => ['--context', `${key}=${value}`]);
      await cdk('synth', '--quiet', '--output', assembly, ...context);
      return assembly;
    },
    deploy: (assembly) =>
      cdk('deploy', '--all', '--require-approval', 'never', '--app', assembly, '--outputs-file', outputs),
    diff: (assembly) => run(process.execPath, words('diff', '--all', '--fail', '--app', assembly), options),
    destroy: (assembly) => cdk('destroy', '--all', '--force', '--app', assembly),
    outputs: () => z.parse(Outputs, JSON.parse(readFileSync(outputs, 'utf8')))['holdoff-control-plane'] ?? {},
  };
}
