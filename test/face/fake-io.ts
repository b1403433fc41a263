/** The outside world for a command under test: what it printed is kept, and its clock stands still. */
import { basename, dirname } from 'node:path';
import { sleep, type Io } from '../../cli/io.ts';
import { NOW } from './fleet.ts';

export type FakeIo = Io & {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** What Ctrl-C does. */
  readonly interrupt: () => void;
};

export type World = {
  readonly isTty?: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** Processes that run. */
  readonly alive?: readonly number[];
  readonly stdin?: string;
  /** What somebody at the terminal answers; nobody is there without it. */
  readonly answer?: string;
  /** Called instead of waiting. */
  readonly onSleep?: (io: FakeIo) => void;
};

const missing = (path: string): Error =>
  Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' });

export function fakeIo(world: World = {}): FakeIo {
  const out: string[] = [];
  const err: string[] = [];
  const interrupt = new AbortController();
  const io: FakeIo = {
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    isTty: world.isTty ?? false,
    canAsk: world.answer !== undefined,
    ask: async (question) => {
      err.push(question);
      return world.answer ?? '';
    },
    size: () => ({ width: world.width ?? 120, height: world.height ?? 24 }),
    env: world.env ?? {},
    cwd: '/here',
    now: () => NOW,
    readFile: async (path) => {
      const text = world.files?.[path];
      if (text === undefined) throw missing(path);
      return text;
    },
    listFolder: async (path) =>
      Object.keys(world.files ?? {}).flatMap((file) => (dirname(file) === path ? basename(file) : [])),
    isAlive: (pid) => world.alive?.includes(pid) ?? false,
    readStdin: async () => world.stdin ?? '',
    sleep: async () => {
      world.onSleep?.(io);
      await sleep(0, interrupt.signal);
    },
    interrupted: interrupt.signal,
    stdout: () => out.join(''),
    stderr: () => err.join(''),
    interrupt: () => interrupt.abort(),
  };
  return io;
}
