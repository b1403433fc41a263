/**
 * `simulate FILE…`: what will happen if. The one command that needs no control plane, and the one place where the CLI
 * reaches `local/`: the scenario runs the real control plane with everything around it in memory (DESIGN section 9).
 */
// @ts-nocheck

import type { CommandModule } from '../command.ts';
import { EXIT } from '../errors.ts';

export const simulateCommand: CommandModule = (program, accept) => {
  program
    .command('simulate')
    .description('run scenario files on a virtual clock and judge their expectations')
    .argument('<files...>', 'scenario files (JSON); - reads one from standard input')
    .addHelpText(
      'after',
      `
Examples:
  holdoff simulate docs/scenarios/two-early-failures.json
  holdoff simulate docs/scenarios/*.json --json

Exit codes: 0 when every expectation holds, 1 when one does not or a file is not a scenario.`,
    )
    .action((files: string[]) => {
      accept({
        name: 'simulate',
        options: { files },
        run: async ({ io, json }) => {
          const { simulateFiles } = await import('../../local/simulate/report.ts');
          const read = (file: string): Promise<string> => (file === '-' ? io.readStdin() : io.readFile(file));
          const { passed, text } = await simulateFiles(files, read, json);
          io.out(`${text}\n`);
          return passed ? EXIT.ok : EXIT.failed;
        },
      });
    });
};
