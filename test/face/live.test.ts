import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/commands/all.ts';
import { EXIT } from '../../cli/errors.ts';
import { runCommandLine } from '../../cli/run.ts';
import { problem, type Reply } from './api-double.ts';
import type { FakeIo, World } from './fake-io.ts';
import { crashedNode, event, idleNode, NODE_A, NODE_B } from './fleet.ts';
import { items, startedIo, withApi } from './holdoff.ts';

/** Answers the replies in turn, and Ctrl-C comes when the last one has been shown. */
async function live(line: string, replies: Reply[], world: World = {}): Promise<{ code: number; io: FakeIo }> {
  let shown = 0;
  const respond = (): Reply => replies[shown] ?? problem(500, 'TooMany', 'asked too often');
  const onSleep = (self: FakeIo): void => {
    shown += 1;
    if (shown === replies.length) self.interrupt();
  };
  return withApi(respond, async (api) => {
    const io = startedIo(api.localFile, { ...world, onSleep });
    return { code: await runCommandLine(line.split(' '), COMMANDS, io), io };
  });
}

const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?1049l';

describe('--watch', () => {
  const world = { isTty: true, env: { NO_COLOR: '1' } };

  it('redraws on the alternate screen, and leaves the last frame behind', async () => {
    const { code, io } = await live('nodes --watch', [items(idleNode()), items(crashedNode())], world);
    expect(code).toBe(EXIT.ok);
    const [, drawn, left] = io.stdout().split(new RegExp(`${ENTER}|${LEAVE}`.replaceAll(/[[?]/g, '\\$&')));
    expect(drawn).toContain(NODE_A);
    expect(drawn).toContain('Ctrl-C ends');
    expect(left).toContain(NODE_B);
    expect(left).not.toContain(NODE_A);
  });

  it('goes on when a refresh fails, and says so above the last good frame', async () => {
    const outage = problem(503, 'Busy', 'try later');
    const { code, io } = await live('nodes --watch', [items(idleNode()), outage, items(idleNode())], world);
    expect(code).toBe(EXIT.ok);
    expect(io.stdout()).toContain('could not refresh: try later; trying again');
  });

  it('fails as any command when the first answer does, without touching the screen', async () => {
    const { code, io } = await live('nodes --watch', [problem(503, 'Busy', 'try later')], world);
    expect(code).toBe(EXIT.failed);
    expect(io.stdout()).toBe('');
  });

  it('draws no more lines than the terminal has', async () => {
    const nodes = Array.from({ length: 40 }, (_, n) => idleNode({ nodeId: `i-000000${String(n).padStart(2, '0')}` }));
    const { io } = await live('nodes --watch', [items(...nodes)], { ...world, height: 10 });
    const frame = io.stdout().split(ENTER)[1]?.split(LEAVE)[0] ?? '';
    expect(frame.split('\n')).toHaveLength(10);
    expect(frame).toContain('… 34 more');
  });
});

describe('events', () => {
  const first = event({ id: 'vm/web/1', at: '2026-01-05T00:00:01.000Z' });
  const second = event({ id: 'vm/web/2', at: '2026-01-05T00:00:02.000Z' });
  const late = event({ id: 'vm/db/1', at: '2026-01-05T00:00:01.500Z', subject: 'db' });

  it('--follow prints each event once, also one that reaches the log late', async () => {
    const { code, io } = await live('events --follow', [items(second, first), items(second, late, first)]);
    expect(code).toBe(EXIT.ok);
    expect(
      io
        .stdout()
        .trimEnd()
        .split('\n')
        .map((row) => row.split('\t').at(-1)),
    ).toEqual(['vm/web/1', 'vm/web/2', 'vm/db/1']);
  });

  it('--follow --json prints one JSON object a line', async () => {
    const { io } = await live('events --follow --json', [items(second, first)]);
    expect(
      io
        .stdout()
        .trimEnd()
        .split('\n')
        .map((row): unknown => JSON.parse(row)),
    ).toEqual([first, second]);
  });

  it('--follow goes on through an outage and says so once', async () => {
    const outage = problem(503, 'Busy', 'try later');
    const { code, io } = await live('events --follow', [items(first), outage, outage, items(second, first)]);
    expect(code).toBe(EXIT.ok);
    expect(io.stderr()).toBe('could not read the log: try later; trying again\n');
    expect(io.stdout()).toContain('vm/web/2');
  });

  it('say on a terminal when there is more than is shown', async () => {
    const many = Array.from({ length: 100 }, (_, n) => event({ id: `vm/web/${n}` }));
    const { io } = await live('events', [items(...many)], { isTty: true });
    expect(io.stderr()).toBe('The newest 100; --all shows the whole log.\n');
  });
});
