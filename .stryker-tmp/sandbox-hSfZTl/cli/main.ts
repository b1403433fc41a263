/** `holdoff`: what an operator types. */
// @ts-nocheck

import { COMMANDS } from './commands/all.ts';
import { processIo } from './io.ts';
import { runCommandLine } from './run.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, processIo());
