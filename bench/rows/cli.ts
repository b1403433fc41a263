/** How long the bundled CLI takes to say its help: what somebody paged at night waits for before every answer. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { median, processMs } from './processes.ts';
import type { Row } from './row.ts';

const MS_MOST = 300;
const TIMES = 7;

export const cli: Row = {
  name: 'cli',
  about: '`holdoff --help` from start to end, bundled as it is published',
  measure: () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdoff-cli-'));
    try {
      const file = join(folder, 'holdoff.mjs');
      execFileSync(process.execPath, [resolve(import.meta.dirname, '../../cli/build.mjs'), file], { stdio: 'ignore' });
      const runs = Array.from({ length: TIMES }, () => processMs([file, '--help']));
      const empty = Array.from({ length: TIMES }, () => processMs(['-e', '0']));
      return Promise.resolve([
        {
          what: 'CPU time of the process, Node included',
          target: { most: MS_MOST },
          measured: median(runs.map(({ cpu }) => cpu)),
          unit: 'ms',
          note: `of it Node alone ${median(empty.map(({ cpu }) => cpu)).toFixed(0)} ms; by the wall clock ${median(runs.map(({ wall }) => wall)).toFixed(0)} ms`,
        },
        { what: 'bundle', target: null, measured: statSync(file).size / 1000, unit: 'KB' },
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
