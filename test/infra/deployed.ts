import { App, type Environment, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HANDLERS } from '../../core/contract/names.ts';
import { WAKE_DOCUMENT } from '../../core/contract/wake-document.ts';
import { addChecks, addDeployment, type Deployment, FLAGS } from '../../infra/deployment.ts';
import { settingsOf } from '../../infra/settings.ts';

export interface DeployedOptions {
  /** As the user would give it with `-c`. */
  readonly context?: Readonly<Record<string, unknown>>;
  readonly env?: Environment;
  readonly checks?: boolean;
  readonly agentFolder?: string;
}

/** A deployment with placeholders for handlers, nothing bundled: what templates say, in seconds. */
export function deployed(options: DeployedOptions = {}): Deployment & { readonly app: App } {
  const root = mkdtempSync(join(tmpdir(), 'holdoff-infra-'));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'functions'));
  writeFileSync(join(root, 'package-lock.json'), '{}');
  for (const handler of HANDLERS) writeFileSync(join(root, `functions/${handler}.ts`), 'export const handler = 1;\n');
  const app = new App({ outdir: join(root, 'cdk.out'), context: { ...FLAGS, 'aws:cdk:bundling-stacks': [] } });
  const settings = settingsOf((name) => options.context?.[name]);
  const env = options.env === undefined ? {} : { env: options.env };
  const folder = options.agentFolder === undefined ? {} : { agentFolder: options.agentFolder };
  const deployment = addDeployment(app, { settings, wakeDocument: WAKE_DOCUMENT, root, ...env, ...folder });
  if (options.checks === true) addChecks(app);
  return { ...deployment, app };
}

export const templateOf = (stack: Stack): Template => Template.fromStack(stack);
