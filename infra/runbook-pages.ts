import { Aws, CfnMapping, Fn } from 'aws-cdk-lib';
import { Dashboard, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT, type Settings } from './settings.ts';

const FOLDER = join(PROJECT_ROOT, 'docs/runbooks');
const WIDTH = 24;
/** Rows of a widget for so many lines of text, about. */
const rows = (text: string): number => Math.min(40, 3 + Math.ceil(text.split('\n').length * 0.8));

/** Where the console of each partition is. */
const CONSOLES = {
  aws: { host: 'console.aws.amazon.com' },
  'aws-us-gov': { host: 'console.amazonaws-us-gov.com' },
  'aws-cn': { host: 'console.amazonaws.cn' },
};

/**
 * The runbooks of the version that is deployed, as a dashboard in the account: an alarm mail leads there without anybody
 * having to say where this repository is, and whoever may see the alarm may read it.
 */
export class RunbookPages extends Construct {
  /** Ends in the name of the dashboard; the runbooks stand there in the order of their names. */
  readonly address: string;

  constructor(scope: Construct, id: string, { prefix }: Settings) {
    super(scope, id);
    const dashboardName = `${prefix}-runbooks`;
    const texts = readdirSync(FOLDER)
      .toSorted()
      .map((file) => readFileSync(join(FOLDER, file), 'utf8').replaceAll(/\]\([\w./-]+\.md(?:#[\w-]+)?\)/g, ']'));
    new Dashboard(this, 'Pages', {
      dashboardName,
      widgets: texts.map((markdown) => [new TextWidget({ markdown, width: WIDTH, height: rows(markdown) })]),
    });
    const consoles = new CfnMapping(this, 'Consoles', { mapping: CONSOLES });
    const host = Fn.findInMap(consoles.logicalId, Aws.PARTITION, 'host');
    this.address = Fn.join('', [
      'https://',
      host,
      '/cloudwatch/home?region=',
      Aws.REGION,
      `#dashboards/dashboard/${dashboardName}`,
    ]);
  }
}
