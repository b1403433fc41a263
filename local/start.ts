/** `npm start`: the control plane on this machine with a demo fleet of real agent processes. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { USUAL_PORT } from './control-plane.ts';
import { ROUTES } from '../core/contract/routes.ts';
import { fetchTransport } from '../client/client.ts';
import { LOCAL_FILE, PID_FILE, USUAL_DATA } from '../client/local-run.ts';
import { startPageServer, USUAL_PAGE_PORT, type PageServer } from '../client/page-server.ts';
import { clientOf, signerOf, type Connection } from './demo/client.ts';
import { DEMO_ENVIRONMENT, GROUPS, NODES, STORY, VMS } from './demo/fleet.ts';
import { type RealGuests, realGuests } from './demo/guests.ts';
import { isAlive, watchAncestors } from './demo/ancestors.ts';
import { leaveWord } from './demo/elsewhere.ts';
import { readStartOptions } from './demo/options.ts';
import { startMachine } from './demo/machines.ts';
import { findProgram, QEMU, QEMU_MISSING } from './demo/qemu.ts';
import { type Supervised, supervise } from './demo/processes.ts';
import { ROLLOUT } from './demo/rollout.ts';
import { showLive, showPlain } from './demo/show.ts';
import { Story } from './demo/story.ts';

const HELP = `npm start -- [options]: Holdoff on this machine, without AWS and without Docker.

  --no-demo      the empty control plane, without the demo fleet
  --qemu         the demo's VMs are real QEMU guests, if QEMU is installed (Debian: qemu-system-x86)
  --fresh        forget what an earlier run left on disk
  --port N       port of the API on 127.0.0.1 (default ${USUAL_PORT}; a free one if it is taken)
  --page-port N  port of the console, the page that shows the fleet (default ${USUAL_PAGE_PORT}; a free one if it is taken)
  --data DIR     where everything is kept (default .holdoff)
  --plain        plain lines even on a terminal
  --help         this text

In a second terminal: npm run holdoff -- nodes | vms | events | summary | nodes show ID | vms stop ID | --help
`;

const given = readStartOptions(process.argv.slice(2), process.env);
if ('refused' in given) {
  process.stderr.write(`${given.refused}\n\n${HELP}`);
  process.exit(2);
}
const values = given;

if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const PAGE_TIMEOUT_MS = 20_000;
/** What to look at: they stay on screen. */
const OPENING_LINES = 3;
const dataDir = resolve(values.data ?? process.env['HOLDOFF_DATA'] ?? USUAL_DATA);
const demo = !values['no-demo'];
const live = process.stdout.isTTY && !values.plain;
const notices: string[] = [];
const say = (text: string): void => {
  notices.push(text);
  if (!live) process.stdout.write(`${text}\n`);
};

refuseSecondStart();
const again = existsSync(join(dataDir, 'dynamodb')) && !values.fresh;
if (values.fresh) rmSync(dataDir, { recursive: true, force: true });
mkdirSync(join(dataDir, 'logs'), { recursive: true });
rmSync(join(dataDir, LOCAL_FILE), { force: true });

writeFileSync(pidFile(), String(process.pid));
const takeBackWord = leaveWord(process.cwd(), dataDir, process.pid);
const running: Supervised[] = [];
const pages: PageServer[] = [];
const interrupted = new AbortController();
// A reader that has seen enough (`| head`) ends the demo as Ctrl-C does: nothing may be left running.
process.stdout.on('error', () => interrupted.abort());
process.stderr.on('error', () => interrupted.abort());
// A terminal that is closed hangs up; npm, killed, says nothing.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());
watchAncestors(() => interrupted.abort());

try {
  await main();
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
} finally {
  if (live) process.stdout.write('\n');
  process.stdout.write('stopping …\n');
  for (const page of pages) await page.close();
  await Promise.all(running.filter(({ name }) => name.startsWith('machine')).map((machine) => machine.stop()));
  for (const { stop } of running) await stop();
  rmSync(pidFile(), { force: true });
  takeBackWord();
  process.stdout.write(
    `stopped; what was reached is kept in ${dataDir} (npm start goes on from there, --fresh begins anew)\n`,
  );
}

/** What the CLI must be told to find this run; nothing where it looks by itself. */
function elsewhere(): string {
  if (dataDir === resolve(USUAL_DATA)) return '';
  const path = /^[\w./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`;
  return `HOLDOFF_DATA=${path} `;
}

function pidFile(): string {
  return join(dataDir, PID_FILE);
}

/** Two at once on the same data would fight for it, and `--fresh` would take it away from the other. */
function refuseSecondStart(): void {
  const pid = existsSync(pidFile()) ? Number(readFileSync(pidFile(), 'utf8')) : 0;
  if (!isAlive(pid)) return;
  process.stderr.write(
    `npm start already runs here (process ${pid}) with its data in ${dataDir}; stop it first, or give another directory with --data DIR\n`,
  );
  process.exit(1);
}

async function main(): Promise<void> {
  const log = join(dataDir, 'logs', 'control-plane.log');
  const env = {
    HOLDOFF_DATA: dataDir,
    ...(demo ? DEMO_ENVIRONMENT : {}),
    ...(values.port === undefined ? {} : { HOLDOFF_PORT: values.port }),
  };
  running.push(supervise('control plane', 'local/control-plane-process.ts', [], env, log, say));
  const connection = await connected(log);
  const page = await openPage(connection);
  pages.push(page);
  say(`the fleet as a page: ${page.address}`);
  if (demo) say(STORY);
  say(`second terminal: ${elsewhere()}npm run holdoff -- summary | nodes | vms | explain ID | events | --help`);
  say(
    `control plane: ${connection.endpoint}${connection.endpoint.endsWith(`:${values.port ?? USUAL_PORT}`) ? '' : ` (port ${values.port ?? USUAL_PORT} is taken: a free one is used)`}; ${again ? 'going on where it was' : 'new'}; data in ${dataDir}`,
  );
  if (!demo) {
    say('no demo: the control plane is empty. Ctrl-C stops it.');
    await untilInterrupted();
    return;
  }
  bundleAgent();
  const client = clientOf(connection);
  for (const [group, body] of Object.entries({ ...GROUPS, ...ROLLOUT.groups }))
    await client.call(ROUTES.putGroup, { params: { group }, body });
  const nodes = [...NODES, ...ROLLOUT.nodes];
  const real = chooseGuests();
  const { endpoint, region } = connection;
  for (const node of nodes)
    running.push(startMachine(node, { dataDir, endpoint, region, agentEnv: real?.agentEnv ?? {} }, say));
  await declareVms(connection, real);
  say(
    'demo settings: reports every 3 s (1 s under way), deadlines 20–40 s, soak 4 s, a VM is stable after 60 s; the real defaults are 20 min, 5–15 min, 2 min and 10 min',
  );
  for (const { nodeId, story } of nodes) say(`  ${nodeId} ${story}`);
  const show = {
    client,
    notices,
    opening: OPENING_LINES,
    story: new Story(`${elsewhere()}npm run holdoff --`),
    interrupted: interrupted.signal,
  };
  await (live ? showLive(show) : showPlain(show));
}

/** The console, built and served here; it speaks to the control plane with the operator's key, for its own page alone. */
function openPage(connection: Connection): Promise<PageServer> {
  const pageDir = runBuild('../console/build.mjs');
  return startPageServer({
    endpoint: connection.endpoint,
    sign: signerOf(connection),
    transport: fetchTransport(PAGE_TIMEOUT_MS),
    pageDir,
    port: Number(values['page-port'] ?? USUAL_PAGE_PORT),
  });
}

/** Runs a build of this repository, as a user would; it says where it has put what it made. */
function runBuild(script: string): string {
  const path = resolve(import.meta.dirname, script);
  return execFileSync(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' }).trim();
}

/** The agent as it is installed on a node: one file. Built by its own script, as a user would. */
function bundleAgent(): void {
  runBuild('../agent/build.mjs');
}

/** Real guests when they were asked for and can be had; null: each VM is a script that stands for a guest. */
function chooseGuests(): RealGuests | null {
  if (!values.qemu) return null;
  const program = findProgram(QEMU, process.env['PATH']);
  if (program === null) {
    say(QEMU_MISSING);
    return null;
  }
  say(`the VMs are real guests of ${program}, without hardware acceleration: boot sectors of 512 bytes`);
  return realGuests(program, dataDir);
}

/**
 * VMs that an earlier run declared are left as they are: the operator may have changed them. They are declared anew when
 * that run had guests of the other kind, which this one's host does not allow.
 */
async function declareVms(connection: Connection, real: RealGuests | null): Promise<void> {
  const client = clientOf(connection);
  const kind = real === null ? 'scripts' : 'qemu';
  const mark = join(dataDir, 'guests');
  const same = (existsSync(mark) ? readFileSync(mark, 'utf8') : 'scripts') === kind;
  for (const [vmId, body] of Object.entries(real?.vms ?? VMS)) {
    const params = { vmId };
    const known = same && (await client.call(ROUTES.getVm, { params })).status !== 404;
    if (!known) await client.call(ROUTES.putVm, { params, body });
  }
  writeFileSync(mark, kind);
}

async function untilInterrupted(): Promise<void> {
  if (interrupted.signal.aborted) return;
  await new Promise<void>((done) => interrupted.signal.addEventListener('abort', () => done(), { once: true }));
}

/** Waits until the control plane has written where it is and answers there. */
async function connected(log: string): Promise<Connection> {
  const file = join(dataDir, 'local.json');
  for (let attempt = 0; attempt < 600; attempt += 1) {
    interrupted.signal.throwIfAborted();
    if (existsSync(file)) {
      // The control plane that we started wrote it.
      const connection = JSON.parse(readFileSync(file, 'utf8')) as Connection;
      if (await answers(connection)) return connection;
    }
    await wait(100);
  }
  throw new Error(`the control plane did not come up within a minute; its log: ${log}`);
}

async function answers(connection: Connection): Promise<boolean> {
  try {
    return (await clientOf(connection).call(ROUTES.listGroups, {})).status === 200;
  } catch {
    // Not listening yet: asked again.
    return false;
  }
}
