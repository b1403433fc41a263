/** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, with a proxy that is a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDrainer } from '../../../agent/drain/drainer.ts';
import { readProxies } from '../../../agent/http/proxy.ts';
import { KubernetesDouble } from '../kubernetes-double.ts';
import { bundleAgent, Scene, until } from '../scene.ts';

const KEYS = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };

class Proxy {
  readonly #child: ChildProcess;
  #said = '';

  constructor(env: Record<string, string> = {}) {
    const file = join(import.meta.dirname, 'proxy-process.mjs');
    this.#child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'], env });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
  }

  async url(): Promise<string> {
    await until('the proxy', () => this.#said.includes('listening'));
    return `http://user:word@127.0.0.1:${/listening (\d+)/.exec(this.#said)?.[1] ?? ''}`;
  }

  asked(): string[] {
    return this.#said.split('\n').filter((line) => line !== '' && !line.startsWith('listening'));
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }
}

let proxy: Proxy;
beforeEach(() => {
  proxy = new Proxy();
});
afterEach(() => proxy.close());

describe('an https host', () => {
  let cluster: KubernetesDouble;
  beforeEach(async () => {
    cluster = new KubernetesDouble(KEYS);
    await cluster.listen();
  });
  afterEach(() => cluster.close());
  const survey = (env: Record<string, string>) =>
    createDrainer({
      nodeId: 'i-0123456789abcdef0',
      region: 'eu-west-1',
      identity: () => Promise.resolve(KEYS),
      env: {},
      requestTimeoutMs: 10_000,
      ecsIntrospection: 'http://127.0.0.1:9',
      kubernetesNode: '',
      settings: () => Promise.resolve({ kubernetes: cluster.settings() }),
      proxies: readProxies(env),
      wallMs: Date.now,
      runHook: () => Promise.resolve({ known: false, failure: 'none' }),
      endHook: () => Promise.resolve(),
    })('survey', { type: 'kubernetes' }, null);

  test('whose certificate is not of its cluster is not talked to, through the tunnel either', async () => {
    const settings = cluster.settings();
    const other = new KubernetesDouble(KEYS);
    await other.listen();
    cluster.settings = () => ({ ...settings, 'api-server': other.settings()['api-server'] ?? '' });
    const outcome = await survey({ HTTPS_PROXY: await proxy.url() });
    await other.close();
    expect(outcome).toEqual({ kind: 'unavailable', message: expect.stringMatching(/certificate/) });
  });

  test('is reached through a tunnel, and its certificate is still verified', async () => {
    expect(await survey({ HTTPS_PROXY: await proxy.url() })).toEqual({ kind: 'surveyed', mine: ['cordon'] });
    expect(proxy.asked().every((line) => line.startsWith('CONNECT '))).toBe(true);
    expect(proxy.asked()).toHaveLength(2);
  });

  test('that NO_PROXY names is reached without', async () => {
    const env = { https_proxy: await proxy.url(), no_proxy: '10.0.0.0/8,127.0.0.0/8,localhost' };
    expect((await survey(env)).kind).toBe('surveyed');
    expect(proxy.asked()).toEqual([]);
  });

  test('behind a proxy that refuses is trouble that names the proxy', async () => {
    const strict = new Proxy({ REFUSE: '1' });
    const url = await strict.url();
    expect(await survey({ HTTPS_PROXY: url })).toEqual({
      kind: 'unavailable',
      message: expect.stringMatching(/the proxy 127\.0\.0\.1:\d+ answered 407 to CONNECT/),
    });
    strict.close();
  });
});

describe('the real agent', () => {
  let agent: ReturnType<typeof bundleAgent>;
  let scene: Scene;
  beforeAll(() => {
    agent = bundleAgent();
  });
  afterAll(() => agent.remove());
  beforeEach(() => {
    scene = new Scene(agent.bundle);
  });
  afterEach(() => scene.close());

  test('reports through the proxy that its host has', async () => {
    await scene.boot({ agentEnv: { HTTP_PROXY: await proxy.url() } });
    await scene.told('- Idle');
    expect(proxy.asked()).toContain(`POST ${scene.plane.url}/v1/nodes/i-0123456789abcdef0/reports`);
    expect(scene.plane.unsigned).toEqual([]);
  });
});

describe('which way', () => {
  const env = {
    HTTPS_PROXY: 'proxy:3128',
    HTTP_PROXY: 'http://plain:80',
    NO_PROXY: '.corp.example, *.x.example:8443 169.254.169.254 10.1.0.0/16 fd00::/8',
  };
  test.each([
    ['https://api.example/', 'http://proxy:3128/'],
    ['http://api.example/', 'http://plain/'],
    ['https://corp.example/', null],
    ['https://a.b.corp.example/', null],
    ['https://notcorp.example/', 'http://proxy:3128/'],
    ['https://a.x.example:8443/', null],
    ['https://a.x.example/', 'http://proxy:3128/'],
    ['http://169.254.169.254/', null],
    ['https://10.1.2.3/', null],
    ['https://10.2.2.3/', 'http://proxy:3128/'],
    ['https://[fd00::1]/', null],
  ])('%s goes to %j', (url, wanted) => {
    expect(readProxies(env)(new URL(url))?.href ?? null).toBe(wanted);
  });

  test('none where none is set, and none at all with *', () => {
    expect(readProxies({})(new URL('https://api.example/'))).toBeNull();
    expect(readProxies({ ...env, NO_PROXY: '*' })(new URL('https://api.example/'))).toBeNull();
  });

  test('what is no URL of a proxy is a wrong setting', () => {
    expect(() => readProxies({ HTTPS_PROXY: 'socks5://p:1' })).toThrow(/HTTPS_PROXY must be the http or https URL/);
  });
});
