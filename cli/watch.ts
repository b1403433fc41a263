/** A view that redraws itself until Ctrl-C, and leaves its last frame behind. */
import { cut } from '../present/text.ts';
import { paint } from '../present/tone.ts';
import { formatInstant } from '../core/kit/time.ts';
import type { Tools } from './command.ts';
import { CliError, EXIT, ProblemError, type ExitCode } from './errors.ts';

const REFRESH_MS = 2000;
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Draws `frame` anew every 2 s. A refresh that fails is shown above the last good frame; the first must succeed. */
export async function watch(tools: Tools, title: string, frame: () => Promise<string>): Promise<ExitCode> {
  const { io } = tools;
  if (tools.json || !io.isTty) {
    throw new CliError('Usage', {
      what: '--watch needs a terminal',
      why: tools.json ? 'it draws, and --json was asked for' : 'the output is not one',
      next: 'leave --watch out',
    });
  }
  let last = await frame();
  let note = '';
  io.out(ENTER);
  try {
    for (;;) {
      io.out(screenful(tools, title, note, last));
      await io.sleep(REFRESH_MS);
      if (io.interrupted.aborted) break;
      try {
        last = await frame();
        note = '';
      } catch (error) {
        if (io.interrupted.aborted) break;
        if (!(error instanceof CliError || error instanceof ProblemError)) throw error;
        note = `could not refresh: ${error.message}; trying again`;
      }
    }
  } finally {
    io.out(LEAVE);
  }
  io.out(`${last}\n`);
  return EXIT.ok;
}

function screenful(tools: Tools, title: string, note: string, frame: string): string {
  const surface = tools.surface('cut');
  const { height } = tools.io.size();
  const time = formatInstant(surface.now).slice(11, 19);
  const head = cut(`${title}  ${time}Z  Ctrl-C ends`, surface.width);
  const lines = [paint(head, 'quiet', surface), paint(cut(note, surface.width), 'bad', surface), ...frame.split('\n')];
  const shown = lines.length <= height ? lines : [...lines.slice(0, height - 1), `… ${lines.length - height + 1} more`];
  return HOME + shown.map((line) => line + CLEAR_LINE).join('\n') + CLEAR_BELOW;
}
