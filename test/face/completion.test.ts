import { describe, expect, it } from 'vitest';
import { askIds } from '../../cli/completion/ids.ts';
import { COMMANDS } from '../../cli/commands/all.ts';
import { EXIT } from '../../cli/errors.ts';
import { runCommandLine } from '../../cli/run.ts';
import { NODE_PHASES, PRINTABLE_STATUSES, WAITING_CODES } from '../../core/contract/words.ts';
import { milliseconds } from '../../core/kit/time.ts';
import type { Responder } from './api-double.ts';
import { group, idleNode, NODE_A, runningVm } from './fleet.ts';
import { fakeIo } from './fake-io.ts';
import { holdoff, items, ok, startedIo, withApi } from './holdoff.ts';

const FLEET: Responder = ({ path }) => {
  if (path.startsWith('/v1/nodes')) return items(idleNode());
  return path.startsWith('/v1/vms') ? items(runningVm({ vmId: 'web' })) : items(group({ group: 'canary' }));
};

type Offered = { words: string[]; asked: string[] };

/** What is offered for a line that ends where the cursor is. */
const offered = (line: string, shell = 'fish', respond = FLEET): Promise<Offered> =>
  withApi(respond, async (api) => {
    const io = startedIo(api.localFile);
    const argv = ['complete-words', '--shell', shell, '--', ...line.split(' ')];
    expect(await runCommandLine(argv, COMMANDS, io)).toBe(EXIT.ok);
    const words = io
      .stdout()
      .split('\n')
      .flatMap((row) => row.split('\t')[0] || []);
    return { words, asked: api.seen.map(({ path }) => path) };
  });

describe('what stands where the cursor is', () => {
  it.each<[line: string, all: readonly string[]]>([
    ['no', ['nodes']],
    ['vms re', ['restart']],
    ['--json vms sta', ['start']],
    ['--endpoint nodes vms sta', ['start']],
    ['nodes retry --waiting-for ', WAITING_CODES],
    ['nodes --phase ', NODE_PHASES],
    ['nodes --phase=I', ['--phase=Idle']],
    ['nodes list --wat', ['--watch']],
    ['nodes --wat', ['--watch']],
    ['vms stop --gr', ['--grace']],
    ['groups pause --gr', []],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['completion bash ', []],
    ['nodes show x --json nodeId,ph', ['nodeId,phase']],
    ['groups --json=decl', ['--json=declared']],
    ['nodes wait x --for phase=Id', ['phase=Idle']],
    ['vms wait x --for ', [...PRINTABLE_STATUSES.map((status) => `printableStatus=${status}`), 'deleted']],
    ['complet', ['completion']],
  ])('%s', async (line, all) => {
    const { words, asked } = await offered(line);
    expect(words).toEqual(all);
    expect(asked).toEqual([]);
  });

  it.each<[line: string, all: readonly string[]]>([
    ['nodes show ', [NODE_A]],
    ['nodes retry i-', [NODE_A]],
    ['vms stop ', ['web']],
    ['vms stop x', []],
    ['groups pause c', ['canary']],
    ['nodes --group ', ['canary']],
    ['nodes --group=', ['--group=canary']],
    ['vms --host ', [NODE_A]],
    ['explain w', ['web']],
  ])('%s: the control plane is asked', async (line, all) => {
    const { words, asked } = await offered(line);
    expect(words).toEqual(all);
    expect(asked).not.toEqual([]);
  });

  it.each(['apply ', 'vms put x --file ', 'simulate a.json '])('%s: a file, which the shell knows', async (line) => {
    expect((await offered(line)).words).toEqual([':files']);
  });

  it('bash parts words at each =, and replaces only what is behind the last', async () => {
    expect((await offered('nodes --phase = Id', 'bash')).words).toEqual(['Idle']);
    expect((await offered('nodes --phase =', 'bash')).words).toEqual(NODE_PHASES);
    expect((await offered('nodes wait x --for phase = Id', 'bash')).words).toEqual(['Idle']);
  });
});

describe('where the control plane cannot be asked', () => {
  it('nothing is offered and nothing is said: a completion has no place for an error', async () => {
    const io = fakeIo();
    const code = await runCommandLine(['complete-words', '--shell', 'bash', '--', 'nodes', 'show', ''], COMMANDS, io);
    expect([code, io.stdout(), io.stderr()]).toEqual([EXIT.ok, '', '']);
  });

  it('what has come is offered, though the rest does not come', async () => {
    const first = ok({ items: [idleNode()], cursor: 'more' });
    const refused = { status: 500, body: { message: 'Internal Server Error' } };
    const { words } = await offered('nodes show ', 'fish', ({ path }) => (path.includes('cursor') ? refused : first));
    expect(words).toEqual([NODE_A]);
  });

  it('somebody who is silent is not waited for', async () => {
    const found: string[] = [];
    const patience = milliseconds(50);
    await withApi(
      () => 'silence',
      (api) => askIds(['nodes'], { options: {}, io: startedIo(api.localFile), patience }, (id) => found.push(id)),
    );
    expect(found).toEqual([]);
  });
});

describe('holdoff completion', () => {
  it.each([
    ['bash', 'complete -F _holdoff holdoff'],
    ['zsh', 'compdef _holdoff holdoff'],
    ['fish', 'complete -c holdoff -f'],
  ])('%s', async (shell, part) => {
    const { out, code, api } = await holdoff(`completion ${shell}`, FLEET);
    expect(code).toBe(EXIT.ok);
    expect(api.seen).toEqual([]);
    expect(out).toContain(part);
  });

  it('of a shell that is not known names those that are', async () => {
    const { code, err } = await holdoff('completion tcsh', FLEET);
    expect(code).toBe(EXIT.usage);
    expect(err).toContain('bash, zsh, fish');
  });
});
