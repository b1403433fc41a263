import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/commands/all.ts';
import { EXIT } from '../../cli/errors.ts';
import { runCommandLine } from '../../cli/run.ts';
import { problem, type Reply } from './api-double.ts';
import { crashedNode, idleNode, NODE_A, NODE_B, runningVm } from './fleet.ts';
import { holdoff, items, ok, startedIo, withApi } from './holdoff.ts';

/** Answers the replies in turn, the last one for ever, while the clock goes on by itself. */
async function waited(line: string, replies: readonly Reply[]): Promise<{ code: number; out: string; err: string }> {
  let asked = 0;
  const respond = (): Reply => replies[Math.min(asked++, replies.length - 1)] ?? problem(500, 'None', 'no reply');
  return withApi(respond, async (api) => {
    const io = startedIo(api.localFile, {});
    let ms = 0;
    const clocked = {
      ...io,
      now: () => (io.now() + ms) as ReturnType<typeof io.now>,
      sleep: (by: number) => ((ms += by), Promise.resolve()),
    };
    const code = await runCommandLine(line.split(' '), COMMANDS, clocked);
    return { code, out: io.stdout(), err: io.stderr() };
  });
}

describe('wait', () => {
  it('ends with 0 once the thing is as asked, and says why it is not on the way', async () => {
    const busy = ok(crashedNode());
    const ran = await waited(`nodes wait ${NODE_A} --for phase=Idle`, [busy, busy, ok(idleNode())]);
    expect(ran).toMatchObject({ code: EXIT.ok, out: `${NODE_A}\tis as asked\n` });
    expect(ran.err.match(/Crashed 3 times/g)).toHaveLength(1);
  });

  it('takes more than one condition, and a path into what is not there is null', async () => {
    const line = 'vms wait db --for instance.phase=Running --for startFailure.reason=null';
    expect(await waited(line, [ok(runningVm({ instance: null })), ok(runningVm())])).toMatchObject({ code: EXIT.ok });
  });

  it('ends with 5 when it does not come to that in time, with the explanation', async () => {
    const ran = await waited(`nodes wait ${NODE_A} --for phase=Idle --within 10s`, [ok(crashedNode())]);
    expect(ran.code).toBe(EXIT.notInTime);
    expect(ran.err).toContain('is not as asked after 10 s');
  });

  it('ends with 4 when there is no such thing, unless that is what is waited for', async () => {
    const gone = problem(404, 'VmNotFound', 'there is no VM db');
    expect((await waited('vms wait db --for printableStatus=Running', [gone])).code).toBe(EXIT.notFound);
    expect(await waited('vms wait db --for deleted', [ok(runningVm()), gone])).toMatchObject({
      code: EXIT.ok,
      out: 'db\tis gone\n',
    });
  });

  it('goes on while the control plane is away', async () => {
    const ran = await waited(`nodes wait ${NODE_A} --for phase=Idle`, [problem(503, 'Busy', 'later'), ok(idleNode())]);
    expect(ran).toMatchObject({ code: EXIT.ok });
  });

  it.each(['phase', '=Idle', 'phase:Idle'])('refuses a condition such as %s before it asks', async (text) => {
    const ran = await holdoff(`nodes wait ${NODE_A} --for ${text}`, () => ok(idleNode()));
    expect(ran.code).toBe(EXIT.usage);
    expect(ran.api.seen).toEqual([]);
  });
});

describe('nodes are listed by what they are like', () => {
  it.each([
    ['nodes --phase BackingOff', NODE_B],
    [`nodes --version ${idleNode().status?.currentVersion ?? ''} --phase Idle`, NODE_A],
  ])('%s', async (line, id) => {
    const ran = await holdoff(line, () => items(idleNode(), crashedNode()));
    expect(
      ran.out
        .trim()
        .split('\n')
        .map((row) => row.split('\t')[0]),
    ).toEqual([id]);
  });

  it('a phase that is none is refused with those that are', async () => {
    const ran = await holdoff('nodes --phase Broken', () => items());
    expect(ran).toMatchObject({ code: EXIT.usage, err: expect.stringContaining('BackingOff') });
  });
});
