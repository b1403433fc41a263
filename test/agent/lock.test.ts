/** The lock of a state directory: one holder, whatever is tried at the same moment. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { takeLock } from '../../agent/lock.ts';
import { identify } from '../../agent/process-identity.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdoff-lock-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A lock file as an agent of an earlier release left it. */
function leave(name: string, text: string): string {
  const dir = join(folder, name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'agent.lock'), text);
  return dir;
}

test('is refused while it is held, and free once it has been given back', () => {
  const dir = join(folder, 'held');
  const held = takeLock(dir);
  expect(() => takeLock(dir)).toThrow(`the agent with pid ${process.pid} is at work in ${dir}`);
  held.release();
  takeLock(dir).release();
});

test('an agent of an earlier release holds it as long as it lives', async () => {
  const holder = spawn('sleep', ['300']);
  await once(holder, 'spawn');
  const pid = holder.pid ?? 0;
  const dir = leave('earlier', `${pid} ${identify(pid)?.startTime}`);
  expect(() => takeLock(dir)).toThrow(`the agent with pid ${pid} is at work in ${dir}`);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  takeLock(dir).release();
});

test('what an earlier boot left is no holder, also where every agent is process 1, as in a container', () => {
  takeLock(leave('dead', '999999 1')).release();
  takeLock(leave('container', `${process.pid} ${identify(process.pid)?.startTime}`)).release();
});

const CONTENDERS = 4;
const ROUNDS = 75;

test(`of ${CONTENDERS} agents that start at once one gets it, in each of ${ROUNDS} rounds over what a dead one left`, async () => {
  const script = join(import.meta.dirname, 'lock-contender.ts');
  const contenders = Array.from({ length: CONTENDERS }, () => fork(script, { execArgv: ['--import', 'tsx'] }));
  const ask = async (contender: ChildProcess, message: unknown): Promise<unknown> => {
    const answer = once(contender, 'message');
    contender.send(message as string);
    return (await answer)[0];
  };
  try {
    await Promise.all(contenders.map((contender) => once(contender, 'message')));
    for (let round = 0; round < ROUNDS; round += 1) {
      const dir = leave(`round-${round}`, '999999 1');
      const got = await Promise.all(contenders.map((contender) => ask(contender, dir)));
      const count = (wanted: string): number => got.filter((answer) => answer === wanted).length;
      expect({ round, held: count('held'), locked: count('Locked') }).toEqual({
        round,
        held: 1,
        locked: CONTENDERS - 1,
      });
      await Promise.all(contenders.map((contender) => ask(contender, 'release')));
    }
  } finally {
    for (const contender of contenders) contender.kill('SIGKILL');
  }
}, 120_000);
