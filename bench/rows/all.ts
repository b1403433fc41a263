/** Every row, in the order of DESIGN section 10. */
import { cli } from './cli.ts';
import { coldStart } from './cold-start.ts';
import { COMMANDS } from './commands.ts';
import { cost } from './cost.ts';
import { decisions } from './decisions.ts';
import { herd } from './herd.ts';
import { lists } from './lists.ts';
import { requests } from './requests.ts';
import type { Row } from './row.ts';
import { storm } from './storm.ts';
import { sweep } from './sweep.ts';
import { timers } from './timers.ts';

export const ROWS: readonly Row[] = [
  requests,
  timers,
  storm,
  decisions,
  coldStart,
  cost,
  herd,
  lists,
  sweep,
  cli,
  ...COMMANDS,
];
