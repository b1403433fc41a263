/** The CDK app (`cdk.json`, `npm run synth`): one deployment, told by context what to be. Needs no credentials. */
import { App } from 'aws-cdk-lib';
import { WAKE_DOCUMENT } from '../core/contract/wake-document.ts';
import { addChecks, addDeployment, FLAGS } from './deployment.ts';
import { settingsOf } from './settings.ts';

// The CLI says where to write; without it (`npm run synth`) the folder is the CLI's usual one.
const app = new App({ outdir: process.env['CDK_OUTDIR'] ?? 'cdk.out', context: FLAGS });
const lookup = (name: string): unknown => app.node.tryGetContext(name);
addDeployment(app, { settings: settingsOf(lookup), wakeDocument: WAKE_DOCUMENT });
addChecks(app);
app.synth();
