/** Every command that a runbook names is one that works: what a person is told at three in the morning is run here first. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../cli/commands/all.ts';
import { processIo } from '../../cli/io.ts';
import { parseCommandLine } from '../../cli/parse.ts';
import { runCommandLine } from '../../cli/run.ts';
import { HANDLERS } from '../../core/contract/names.ts';
import { type Served, serve } from '../fuzz/served.ts';
import { type SigningProxy, startSigningProxy } from '../fuzz/signing-proxy.ts';

const FOLDER = new URL('../../docs/runbooks/', import.meta.url);
const NODE = 'i-0000000000000000a';
const NAMES: Readonly<Record<string, string>> = { GROUP: 'default', VERSION: '1.1' };

type Written = { readonly page: string; readonly line: string };
const written: readonly Written[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.md'))
  .flatMap((file) =>
    [
      ...readFileSync(new URL(file, FOLDER), 'utf8').matchAll(
        /`((?:holdoff|aws|npx|curl|POST|PUT|GET|DELETE) [^`]*)`/g,
      ),
    ].map(([, line = '']) => ({ page: file.replace('.md', ''), line })),
  );
const ofHoldoff = written.filter(({ line }) => line.startsWith('holdoff '));
const ofAws = written.filter(({ line }) => !line.startsWith('holdoff '));

/** The words as they are typed, an id in place of each placeholder: a VM's where the command is about VMs. */
const typed = (line: string): string[] =>
  line
    .split(' ')
    .slice(1)
    .map((word) => (word === 'ID' ? (line.includes(' vms ') ? 'web' : NODE) : (NAMES[word] ?? word)));

/** These speak to the AWS of a deployment: test/face/dead-letters.test.ts runs them against the stand-in of SQS. */
const needsAws = (line: string): boolean => line.startsWith('holdoff dead-letters');

let dataDir: string;
let served: Served;
let proxy: SigningProxy;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdoff-runbooks-'));
  served = await serve(dataDir);
  proxy = await startSigningProxy(served);
}, 180_000);
afterAll(async () => {
  await proxy.close();
  await served.stop();
  rmSync(dataDir, { recursive: true, force: true });
}, 60_000);

/** What each command finds: a node, a VM on it, and their group. */
let uptime = 0;
async function declare(): Promise<void> {
  const call = async (method: string, path: string, body: unknown): Promise<void> => {
    const answer = await fetch(`${proxy.url}${path}`, { method, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  };
  const updateCheck = { result: 'UpToDate' };
  uptime += 1;
  const report = { state: 'Idle', bootId: 'b1', uptime, currentVersion: '1.0', updateCheck };
  await call('POST', `/v1/nodes/${NODE}/reports`, report);
  const launch = { type: 'exec', command: ['true'] };
  await call('PUT', '/v1/vms/web', { hostId: NODE, runStrategy: 'Always', launch });
}

const own = processIo();
async function run(line: string): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: string[][] = [[], []];
  const io = {
    ...own,
    out: (text: string) => void out?.push(text),
    err: (text: string) => void err?.push(text),
    isTty: true,
    canAsk: true,
    ask: () => Promise.resolve('yes'),
    env: { NO_COLOR: '1', HOLDOFF_DATA: dataDir },
  };
  const code = await runCommandLine(typed(line), COMMANDS, io);
  return { code, out: out?.join('') ?? '', err: err?.join('') ?? '' };
}

describe('a command of Holdoff in a runbook', () => {
  test.each(ofHoldoff)('is one that the command line knows ($page: $line)', ({ line }) => {
    const said: string[] = [];
    const keep = (text: string): void => void said.push(text);
    const { kind } = parseCommandLine(typed(line), COMMANDS, { out: keep, err: keep });
    expect({ kind, said }).toEqual({ kind: 'run', said: [] });
  });

  // What forgets or pauses things comes last.
  const isLast = (line: string): number => Number(/ (?:delete|recover) /.test(line));
  const lines = [...new Set(ofHoldoff.map(({ line }) => line))]
    .filter((line) => !needsAws(line))
    .toSorted((a, b) => isLast(a) - isLast(b));
  test.each(lines)('does what it says on a control plane that runs: %s', async (line) => {
    await declare();
    const { code, out, err } = await run(line);
    const expected = REFUSED.find(({ command }) => line.startsWith(command))?.because ?? DONE;
    expect(`exit ${code}: ${out}${err}`).toMatch(expected);
  });
});

const DONE = /^exit 0: [^]*\S/;
/** What is right to refuse where nothing is the matter, and how it is said. */
const REFUSED: readonly { command: string; because: RegExp }[] = [
  { command: 'holdoff groups close-breaker GROUP --version', because: /no breaker is open/ },
  { command: 'holdoff recover --yes', because: /was not restored from a copy|Recovered at/ },
];

describe('a command of AWS in a runbook', () => {
  const logs = ofAws.flatMap(({ page, line }) => {
    const group = /^aws logs tail (\S+) /.exec(line)?.[1];
    return group === undefined ? [] : [{ page, group }];
  });
  test.each(logs)('tails a log that the stack makes ($page: $group)', ({ group }) => {
    const known = ['/aws/vendedlogs/holdoff-api', ...HANDLERS.map((name) => `/aws/lambda/holdoff-${name}`)];
    expect(known).toContain(group);
  });

  test('names stacks by the names that they have', () => {
    const stacks = ofAws.flatMap(({ line }) => /--stack-name (\S+)/.exec(line)?.[1] ?? []);
    expect(new Set(stacks)).toEqual(new Set(['holdoff-control-plane']));
  });

  test('is whole: an operation of a service, and options in place of requests by hand', () => {
    const odd = ofAws.filter(
      ({ line }) => !/^(?:aws [a-z0-9]+ [a-z-]+(?: |$)|npx cdk deploy --all -c \w+=\w+$)/.test(line),
    );
    expect(odd).toEqual([]);
  });
});

test('each runbook leads first to a command, not to a page to click through', () => {
  const pages = readdirSync(FOLDER).map((file) => file.replace('.md', ''));
  expect(pages.filter((page) => !written.some((one) => one.page === page))).toEqual([]);
});

test.each([
  ['nodes-silent', [/clock/, /blocked/, /HTTPS_PROXY/, /NO_PROXY/]],
  ['nodes-backing-off', [/clock/, /[Bb]locked egress/, /HTTPS_PROXY/]],
  ['nodes-unreachable', [/blocked/, /proxy/]],
  ['node-crashes', [/waves/, /proxy/]],
])('%s names the causes that look like something else', (page, causes) => {
  const text = readFileSync(new URL(`${page}.md`, FOLDER), 'utf8');
  for (const cause of causes) expect(text).toMatch(cause);
});
