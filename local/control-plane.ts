/**
 * The control plane on a laptop: the deployed handlers with the real SDK clients, against the embedded AWS. A process of
 * its own, so that it can be killed: `tsx local/control-plane.ts`, settings in the environment (see `npm start -- --help`).
 */
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { ENV, metricNamespace } from '../core/contract/names.ts';
import { WAKE_DOCUMENT } from '../core/contract/wake-document.ts';
import {
  type EmbeddedAws,
  type EmbeddedEndpoints,
  type EmbeddedFaults,
  type EmbeddedHandlers,
  startEmbeddedAws,
} from './aws/index.ts';
import { LOCAL_TABLE, tableInput } from './table-input.ts';

export const USUAL_PORT = 4680;
const WAKE_DOCUMENT_NAME = 'holdoff-wake';
const BUS = 'holdoff';

export type ControlPlaneOptions = {
  dataDir: string;
  /** 0 takes a free port; the usual one gives way to a free one when it is taken. */
  port: number;
  sweepSeconds: number;
  faults?: EmbeddedFaults;
  seed?: number;
};

export type RunningControlPlane = { aws: EmbeddedAws; close: () => Promise<void> };

/** Starts everything, writes `local.json` for the CLI, and begins to sweep. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<RunningControlPlane> {
  const dataDir = resolve(options.dataDir);
  const port = await usablePort(options.port);
  let sweep: () => Promise<unknown> = () => Promise.resolve();
  const aws = await startEmbeddedAws({
    dataDir,
    frontPort: port,
    table: tableInput(),
    scheduleGroups: [LOCAL_TABLE],
    eventBuses: [BUS],
    queues: [
      { name: 'vernier', visibilityTimeoutSeconds: 30, maxReceiveCount: 5, deadLetterQueue: 'dead' },
      { name: 'commands', visibilityTimeoutSeconds: 60, maxReceiveCount: 5, deadLetterQueue: 'dead' },
      { name: 'dead' },
    ],
    documents: { [WAKE_DOCUMENT_NAME]: WAKE_DOCUMENT },
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    connect: async (endpoints) => {
      Object.assign(process.env, endpoints.env, functionEnvironment(endpoints));
      const handlers = await loadHandlers();
      sweep = handlers.sweep;
      return handlers.embedded;
    },
  });
  writeConnection(dataDir, aws);
  const stop = keepSweeping(() => sweep(), options.sweepSeconds);
  return {
    aws,
    close: async () => {
      await stop();
      await aws.close();
    },
  };
}

function functionEnvironment(endpoints: EmbeddedEndpoints): Record<string, string> {
  return {
    [ENV.table]: LOCAL_TABLE,
    [ENV.scheduleGroup]: LOCAL_TABLE,
    [ENV.schedulerRoleArn]: endpoints.roleArn('scheduler'),
    [ENV.timerTargetArn]: endpoints.functionArn('timer'),
    [ENV.timerDeadLetterArn]: endpoints.queueArn('dead'),
    [ENV.vernierQueueUrl]: endpoints.queueUrl('vernier'),
    [ENV.commandQueueUrl]: endpoints.queueUrl('commands'),
    [ENV.wakeDocument]: WAKE_DOCUMENT_NAME,
    [ENV.eventBus]: BUS,
    [ENV.accountId]: endpoints.accountId,
    [ENV.nodeRoles]: 'HoldoffNode',
    [ENV.metricNamespace]: metricNamespace('local'),
  };
}

/** The handlers read the environment when they are loaded, as in Lambda: only now is it complete. */
async function loadHandlers(): Promise<{ embedded: EmbeddedHandlers; sweep: () => Promise<unknown> }> {
  const [api, timer, command, status, sweep, log] = await Promise.all([
    import('../functions/api.ts'),
    import('../functions/timer.ts'),
    import('../functions/command.ts'),
    import('../functions/status.ts'),
    import('../functions/sweep.ts'),
    import('../functions/log.ts'),
  ]);
  const embedded: EmbeddedHandlers = {
    api: api.handler,
    // Scheduler's payload is the JSON object that the function itself asked for.
    functions: { timer: (payload) => timer.handler(payload as Record<string, unknown>) },
    consumers: {
      vernier: {
        handler: async (event) => (await timer.handler(event)) ?? { batchItemFailures: [] },
        batchSize: 10,
        maximumConcurrency: 4,
      },
      commands: { handler: command.handler, batchSize: 50, maximumConcurrency: 2, batchingWindowMs: 200 },
    },
    subscribers: [
      { name: 'log', bus: BUS, sources: ['holdoff'], deliver: log.handler },
      { name: 'status', bus: 'default', sources: ['aws.ssm'], deliver: status.handler },
    ],
  };
  return { embedded, sweep: sweep.handler };
}

/** What `npm run holdoff` reads: where the control plane is and an operator's key, for this user only. */
function writeConnection(dataDir: string, aws: EmbeddedAws): void {
  const { accessKeyId, secretAccessKey } = aws.credentials.operator();
  const file = join(dataDir, 'local.json');
  const connection = { endpoint: aws.apiUrl, region: aws.region, credentials: { accessKeyId, secretAccessKey } };
  writeFileSync(`${file}.new`, `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Sweeps at once, then again and again; a sweep that fails is said and the next one still comes. */
function keepSweeping(sweep: () => Promise<unknown>, everySeconds: number): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const once = (): void => {
    running = running
      .then(sweep)
      .then(() => undefined)
      .catch((error: unknown) => {
        process.stderr.write(`the sweep failed and is tried again in ${everySeconds} s: ${String(error)}\n`);
      });
  };
  once();
  const timer = setInterval(once, everySeconds * 1000);
  return () => {
    clearInterval(timer);
    return running;
  };
}

async function usablePort(wanted: number): Promise<number> {
  if (wanted === 0 || (await isFree(wanted))) return wanted;
  process.stderr.write(`port ${wanted} is taken: a free one is used instead\n`);
  return 0;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
