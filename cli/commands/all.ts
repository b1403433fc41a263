/** Every command of the program, in the order of its help. */
import type { CommandModule } from '../command.ts';
import { applyCommands } from './apply.ts';
import { completionCommand } from './completion.ts';
import { consoleCommand } from './console.ts';
import { deadLettersCommand } from './dead-letters.ts';
import { doctorCommand } from './doctor.ts';
import { explainCommand } from './explain.ts';
import { fleetCommands } from './fleet.ts';
import { groupCommands } from './groups.ts';
import { nodeCommands } from './nodes.ts';
import { recoverCommand } from './recover.ts';
import { simulateCommand } from './simulate.ts';
import { vmCommands } from './vms.ts';
import { whatIfCommand } from './what-if.ts';

export const COMMANDS: readonly CommandModule[] = [
  nodeCommands,
  vmCommands,
  groupCommands,
  explainCommand,
  fleetCommands,
  applyCommands,
  consoleCommand,
  doctorCommand,
  deadLettersCommand,
  recoverCommand,
  simulateCommand,
  whatIfCommand,
  completionCommand,
];
