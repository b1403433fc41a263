/** A real local control plane with a scripted fleet, its console, and a real browser that looks at it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { createClient, fetchTransport } from '../../client/client.ts';
import { type PageServer, startPageServer } from '../../client/page-server.ts';
import { createSigner } from '../../client/sign.ts';
import type { NodeReport } from '../../core/contract/agent-bodies.ts';
import type { VmJson } from '../../core/contract/answers.ts';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { openCredentials } from '../../local/aws/credentials.ts';
import { signerOf } from '../../local/demo/client.ts';
import { findProgram } from '../../local/demo/qemu.ts';
import { Laptop, until } from '../system/laptop.ts';

const CHROMIUM = ['chromium', 'chromium-browser', 'google-chrome'];
const TIMEOUT_MS = 20_000;

export const OLD = '1.20.5';
export const NEW = '1.21.0';
export const CRASHED = 'i-0000000000000000b';
export const VM_HOST = 'i-0000000000000000e';
export const QUIET = 'i-0000000000000000a';
export const QUEUED = 'i-0000000000000000c';
/** What a guest may write: nothing of it may become markup. */
export const MARKUP = '<img src="x" onerror="document.title=\'taken\'"><b>disk full</b>';

const boots = (node: string): string => `00000000-0000-4000-8000-${node.slice(-12)}`;
const waits: VmBody['backoff'] = { base: '20m', factor: 2, cap: '1h', jitter: 0 };

export class Stage {
  readonly laptop = new Laptop();
  #browser: Browser | null = null;
  #server: PageServer | null = null;
  readonly #pageDir = mkdtempSync(join(tmpdir(), 'holdoff-page-'));
  #uptime = 1000;

  /** Builds the page, starts the control plane, the console's server and the browser. */
  async start(): Promise<void> {
    execFileSync(process.execPath, [resolve(import.meta.dirname, '../../console/build.mjs'), this.#pageDir]);
    const program = CHROMIUM.map((name) => findProgram(name, process.env['PATH'])).find((found) => found !== null);
    if (program == null) throw new Error('Chromium is not installed; on Debian: apt-get install chromium');
    const [browser] = await Promise.all([
      // A sandbox of its own needs a kernel that lets it; the pages it opens are ours.
      chromium.launch({ executablePath: program, args: ['--no-sandbox'] }),
      this.laptop.start(),
    ]);
    this.#browser = browser;
    this.#server = await startPageServer({
      endpoint: this.laptop.connection.endpoint,
      sign: signerOf(this.laptop.connection),
      transport: fetchTransport(TIMEOUT_MS),
      pageDir: this.#pageDir,
      port: 0,
    });
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#server?.close();
    await this.laptop.stop();
    rmSync(this.#pageDir, { recursive: true, force: true });
  }

  get server(): PageServer {
    if (this.#server === null) throw new Error('not started');
    return this.#server;
  }

  /** A browser window that has opened the printed address, at the view. */
  async open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    if (this.#browser === null) throw new Error('not started');
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    await page.goto(this.server.origin + path + new URL(this.server.address).hash);
    return page;
  }

  /** Says something as the agent of a node, signed with that node's own key. */
  async report(nodeId: string, changes: Partial<NodeReport> = {}): Promise<void> {
    this.#uptime += 1;
    const body: NodeReport = {
      state: 'Idle',
      bootId: boots(nodeId),
      currentVersion: OLD,
      updateCheck: { result: 'UpToDate' },
      agentVersion: '0.1.0',
      uptime: this.#uptime,
      ...changes,
    };
    const { status, text } = await this.#as(nodeId).call(ROUTES.reportNode, { params: { nodeId }, body });
    if (status !== 200) throw new Error(`report of ${nodeId}: ${status} ${text}`);
  }

  /** The VM fails to start, as its host says. */
  async failToStart(vmId: string, hostId: string, message: string): Promise<void> {
    const instance = await until(`${vmId} has an instance`, async () => {
      // The route's answer.
      const vm = (await this.laptop.ok('GET', `/v1/vms/${vmId}`)) as VmJson;
      return vm.instance;
    });
    const { instanceId } = instance;
    const body = { instanceId, phase: 'Failed', cause: 'LaunchFailed', message, console: `boot: ${message}` } as const;
    const { status, text } = await this.#as(hostId).call(ROUTES.reportVm, { params: { vmId }, body });
    if (status !== 200) throw new Error(`report of ${vmId}: ${status} ${text}`);
  }

  #as(nodeId: string): ReturnType<typeof createClient> {
    const { endpoint, region } = this.laptop.connection;
    const { node } = openCredentials({ file: join(this.laptop.dataDir, 'credentials.json') });
    const { accessKeyId, secretAccessKey, sessionToken } = node(nodeId);
    const identity = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
    const sign = createSigner({ region, identity: () => Promise.resolve(identity), wallMs: Date.now });
    return createClient(endpoint, sign, fetchTransport(TIMEOUT_MS));
  }

  /**
   * Group web: one node crashed and backs off, one updates, one waits for its slot, the rest run what is new. Group hosts: a
   * host whose twelve VMs fail for one reason, one that runs nothing wrong, one that is halted.
   */
  async fill(): Promise<void> {
    await this.laptop.group('canary', { maxConcurrentUpdates: '50%' });
    await this.laptop.group('web', {
      maxConcurrentUpdates: 1,
      backoff: { preset: 'brupop' },
      after: { group: 'canary', soak: '1s' },
    });
    for (const digit of ['1', '2', '3', '4'])
      await this.report(`i-0000000000000001${digit}`, { group: 'canary', zone: `eu-1${digit}`, currentVersion: NEW });
    const offered = { group: 'web', zone: 'eu-1a', updateCheck: { result: 'Available', version: NEW } } as const;
    await this.report(QUIET, { group: 'web', zone: 'eu-1a', currentVersion: NEW });
    await this.report(VM_HOST, { group: 'hosts', zone: 'eu-1b', currentVersion: NEW });
    await this.vms();
    await this.laptop.ok('POST', '/v1/groups/web/expedite', { version: NEW, for: '24h' });
    await this.report(CRASHED, offered);
    const generation = await until(`${CRASHED} is asked to begin`, async () => {
      const node = (await this.laptop.nodes()).find(({ nodeId }) => nodeId === CRASHED);
      await this.report(CRASHED, offered);
      return node?.spec.state === 'StagedUpdate' ? node.spec.generation : null;
    });
    const error = { reason: 'PrepareFailed', message: 'no space left on /dev/nvme0n1p3' };
    await this.report(CRASHED, { ...offered, state: 'ErrorReset', generation, error });
    await this.report(CRASHED, { ...offered, generation: generation + 1 });
    await this.report(QUEUED, offered);
    await this.report('i-0000000000000000d', offered);
  }

  /** Many more, for a picture: a group under way, a held node, failed checks, VMs that run. */
  async crowd(): Promise<void> {
    await this.laptop.group('batch', { maxConcurrentUpdates: 12 });
    const zone = (n: number): string => `eu-1${'abc'[n % 3] ?? 'a'}`;
    for (let n = 0; n < 160; n += 1) {
      const group = ['web', 'hosts', 'batch', 'canary'][n % 4] ?? 'web';
      const nodeId = `i-0${String(n).padStart(15, '0')}f`;
      const settled = { group, zone: zone(n), currentVersion: NEW } as const;
      if (group === 'batch')
        await this.report(nodeId, {
          ...settled,
          currentVersion: OLD,
          updateCheck: { result: 'Available', version: NEW },
        });
      else if (n % 53 === 1)
        await this.report(nodeId, { ...settled, updateCheck: { result: 'Failed', message: 'timeout' } });
      else await this.report(nodeId, settled);
    }
    await this.laptop.ok('POST', `/v1/nodes/i-0${'0'.repeat(15)}f/hold`, {});
  }

  /** A VM whose guest writes markup. */
  async beHostile(): Promise<void> {
    const launch = { type: 'libvirt', domain: 'hostile' } as const;
    await this.laptop.vm('hostile', { hostId: VM_HOST, runStrategy: 'Always', launch, backoff: waits });
    await this.failToStart('hostile', VM_HOST, MARKUP);
  }

  private async vms(): Promise<void> {
    const usual = (domain: string): VmBody => ({
      hostId: VM_HOST,
      runStrategy: 'Always',
      launch: { type: 'libvirt', domain },
      backoff: waits,
      startDeadline: '1h',
    });
    await this.laptop.vm('halted', { ...usual('halted'), runStrategy: 'Halted' });
    for (let n = 1; n <= 12; n += 1) {
      const vmId = `api-${String(n).padStart(2, '0')}`;
      await this.laptop.vm(vmId, usual(vmId));
      await this.failToStart(vmId, VM_HOST, `no space left on device (process ${4000 + n})`);
    }
  }
}
