import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChecker, type Checker } from '../../agent/health/checks.ts';
import { HookRuns } from '../../agent/hook-runs.ts';
import { createHookRunner, readHooks } from '../../agent/hooks.ts';
import { type AgentCheck, readMonitorPlan } from '../../agent/node/monitor-record.ts';

let folder: string;
let server: Server;
let port: number;
let checker: Checker;
const ended = new AbortController();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdoff-health-'));
  const script = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  server = createServer((request, response) => {
    response.writeHead(request.url === '/ok' ? 204 : 503);
    response.end();
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const address = server.address();
  port = address === null || typeof address === 'string' ? 0 : address.port;
  const list = join(folder, 'hooks.json');
  writeFileSync(
    list,
    JSON.stringify({
      good: ['/bin/true'],
      bad: [script('bad', 'echo one; echo "lag 900 s" >&2; exit 3')],
      slow: [script('slow', 'sleep 60 & wait')],
    }),
  );
  const systemctl = script('systemctl', '[ "$1" = is-active ] && [ "$3" = up.service ] && exit 0; echo failed; exit 3');
  const env = { PATH: process.env['PATH'] };
  checker = createChecker({
    runHook: createHookRunner(
      readHooks(list),
      new HookRuns({
        folder: join(folder, 'hook-runs'),
        env,
        bootId: () => 'b1',
        uptime: () => performance.now() / 1000,
        ended: ended.signal,
      }),
      env,
      ended.signal,
    ),
    systemctl,
    env,
    ended: ended.signal,
  });
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('health checks look at the node', () => {
  test.each<[string, () => Record<string, unknown>, RegExp | null]>([
    ['an answer of 204', () => ({ type: 'http', port, path: '/ok' }), null],
    ['an answer of 503', () => ({ type: 'http', port, path: '/' }), /^http port \d+ \/ answered 503$/],
    ['503 where 503 is wanted', () => ({ type: 'http', port, status: 503 }), null],
    ['nobody on the port', () => ({ type: 'http', port: 1 }), /ECONNREFUSED/],
    ['a port that is open', () => ({ type: 'tcp', port }), null],
    ['a port that is not', () => ({ type: 'tcp', port: 1 }), /^tcp port 1: .*ECONNREFUSED/],
    ['a unit that is active', () => ({ type: 'systemd', unit: 'up.service' }), null],
    [
      'a unit that is not',
      () => ({ type: 'systemd', unit: 'down.service' }),
      /^systemctl is-active down.service ended with 3: failed$/,
    ],
    ['a hook that passes', () => ({ type: 'exec', hook: 'good' }), null],
    [
      'a hook that does not: its last word',
      () => ({ type: 'exec', hook: 'bad' }),
      /^hook bad ended with 3: lag 900 s$/,
    ],
    [
      'a hook that hangs, killed with its children',
      () => ({ type: 'exec', hook: 'slow', timeoutSeconds: 0.3 }),
      /took longer than 0.3 s/,
    ],
    ['a hook that is not on the list', () => ({ type: 'exec', hook: 'other' }), /not on this node's list/],
    ['a check of a newer control plane', () => ({ type: 'dns' }), /does not know checks of type dns/],
  ])('%s', async (_what, make, failure) => {
    const plan = readMonitorPlan({ checks: [{ name: 'it', timeoutSeconds: 20, ...make() }], onFailure: 'rollback' });
    const checks: readonly AgentCheck[] = plan?.checks ?? [];
    const [result, ...more] = await checker(checks);
    expect([result?.name, more]).toEqual(['it', []]);
    expect(result?.failure ?? 'passed').toMatch(failure ?? /^passed$/);
  });
});

describe('the list of hooks', () => {
  test.each([
    ['no file', null, /must be JSON/],
    ['not JSON', '{', /must be JSON/],
    ['a relative path', '{"a": ["flush"]}', /absolute path/],
    ['a command line', '{"a": "/bin/flush --all"}', /--hooks/],
    ['a name that is a path', '{"../a": ["/bin/true"]}', /--hooks/],
  ])('%s is refused at the start', (_what, text, message) => {
    const file = join(folder, 'list.json');
    if (text === null) rmSync(file, { force: true });
    else writeFileSync(file, text);
    expect(() => readHooks(file)).toThrow(message);
  });
});
