/**
 * The bundle of each Lambda function: its size, and the CPU time of importing it against that of the SDK clients it
 * uses, bundled in the same way and made once (DESIGN section 10). Interleaved, so that a loaded machine slows both.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { ENV, HANDLERS, type HandlerName } from '../../core/contract/names.ts';
import { BUNDLE_ALIASES, BUNDLING } from '../../infra/function.ts';
import { importCpuMs, median } from './processes.ts';
import type { Figure, Row } from './row.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const KILOBYTES_MOST = 650;
const RATIO_MOST = 1.15;
const TIMES = 11;

/** What each client is used for. */
const USED = {
  dynamodb: ['DynamoDBClient', 'GetItemCommand', 'UpdateItemCommand', 'QueryCommand', 'PutItemCommand'],
  scheduler: ['SchedulerClient', 'CreateScheduleCommand', 'ConflictException', 'ValidationException'],
  sqs: ['SQSClient', 'SendMessageCommand'],
  eventbridge: ['EventBridgeClient', 'PutEventsCommand'],
  ssm: ['SSMClient', 'SendCommandCommand', 'DescribeInstanceInformationCommand', 'InvalidInstanceId'],
  cloudwatch: ['CloudWatchClient', 'DescribeAlarmsCommand'],
} as const;
type Client = keyof typeof USED;

const TURN = ['dynamodb', 'scheduler', 'sqs', 'eventbridge'] as const;
const CLIENTS: Readonly<Record<HandlerName, readonly Client[]>> = {
  api: TURN,
  timer: TURN,
  sweep: [...TURN, 'ssm', 'cloudwatch'],
  status: TURN,
  lifecycle: TURN,
  command: ['dynamodb', 'ssm'],
  log: ['dynamodb'],
};

const options = (): BuildOptions => ({
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: BUNDLING.target ?? 'node24',
  mainFields: [...(BUNDLING.mainFields ?? [])],
  minify: BUNDLING.minify ?? false,
  alias: { ...BUNDLE_ALIASES },
  absWorkingDir: ROOT,
  logLevel: 'error',
});

/** A program that has the clients and their commands, and makes each client. */
const bareText = (clients: readonly Client[]): string =>
  clients
    .map((client) => {
      const names = USED[client];
      return `import { ${names.join(', ')} } from '@aws-sdk/client-${client}';\nexport { ${names.join(', ')} };\nexport const ${client} = new ${names[0]}({});`;
    })
    .join('\n');

async function bundles(handler: HandlerName, folder: string): Promise<{ own: string; bare: string }> {
  const own = join(folder, `${handler}.mjs`);
  const bare = join(folder, `${handler}-clients.mjs`);
  await build({ ...options(), entryPoints: [join(ROOT, 'functions', `${handler}.ts`)], outfile: own });
  await build({ ...options(), stdin: { contents: bareText(CLIENTS[handler]), resolveDir: ROOT }, outfile: bare });
  return { own, bare };
}

/** What the functions read when they are loaded. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  AWS_REGION: 'eu-west-1',
  ...Object.fromEntries(Object.entries(ENV).map(([what, name]) => [name, what.endsWith('Seconds') ? '60' : 'bench'])),
};

function measure(handler: HandlerName, { own, bare }: { own: string; bare: string }): Figure[] {
  const times = { own: [] as number[], bare: [] as number[] };
  for (let time = 0; time < TIMES; time += 1) {
    times.own.push(importCpuMs(own, ENVIRONMENT));
    times.bare.push(importCpuMs(bare, ENVIRONMENT));
  }
  const [ownMs, bareMs] = [median(times.own), median(times.bare)];
  const kilobytes = statSync(own).size / 1000;
  return [
    { what: `${handler}: bundle`, target: { most: KILOBYTES_MOST }, measured: kilobytes, unit: 'KB' },
    {
      what: `${handler}: its import ÷ that of the bare clients`,
      target: { most: RATIO_MOST },
      measured: ownMs / bareMs,
      unit: '',
      note: `${ownMs.toFixed(0)} ms against ${bareMs.toFixed(0)} ms of CPU, the median of ${TIMES}`,
    },
  ];
}

export const coldStart: Row = {
  name: 'cold-start',
  about: 'Lambda bundles and their cold import, by CPU time',
  measure: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdoff-cold-'));
    try {
      const figures: Figure[] = [];
      for (const handler of HANDLERS) figures.push(...measure(handler, await bundles(handler, folder)));
      return figures;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
