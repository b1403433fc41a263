/**
 * `simulate FILE…`: what will happen if. The one command that needs no control plane, and the one place where the CLI
 * reaches `local/`: the scenario runs the real control plane with everything around it in memory (DESIGN section 9).
 */
import type { CommandModule } from '../command.ts';
import { EXIT } from '../errors.ts';

export const simulateCommand: CommandModule = (program, accept) => {
  program
    .command('simulate')
    .description('run scenario files on a virtual clock and judge their expectations')
    .argument('<files...>', 'scenario files (JSON); - reads one from standard input')
    .option('--subject <thing>', 'only what is about one thing: vm/web, node/i-…, group/default')
    .option('--full', 'every thing for itself and nothing shortened: alike things stand together without it')
    .addHelpText(
      'after',
      `
Examples:
  holdoff simulate docs/scenarios/two-early-failures.json
  holdoff simulate docs/scenarios/two-hundred-vms-fail-at-once.json
  holdoff simulate mine.json --subject vm/web-17      the story of one VM
  holdoff simulate docs/scenarios/*.json --json

The timeline says, at each instant and for each thing:
  step      what a person or an agent did, and the answer
  timer     which timer fired: the vernier or Scheduler, and how late
  decided   what changed, and because of what
  why       the explanation that the API gives then
  waits     what is waited for, until when
  command   whose agent is woken, for what
  event     what goes to the log
At the end: starts and the busiest second, failures counted, waits, timers, who is in which state.
The file's format: docs/api.md, "Scenario files". Worked examples: docs/scenarios/README.md.

Exit codes: 0 when every expectation holds, 1 when one does not or a file is not a scenario.`,
    )
    .action((files: string[], { full = false, subject = null }: { full?: boolean; subject?: string | null }) => {
      accept({
        name: 'simulate',
        options: { files, full, subject },
        run: async ({ io, json }) => {
          const { simulateFiles } = await import('../../world/simulate/report.ts');
          const read = (file: string): Promise<string> => (file === '-' ? io.readStdin() : io.readFile(file));
          const { passed, text } = await simulateFiles(files, read, json, { full, subject });
          io.out(`${text}\n`);
          return passed ? EXIT.ok : EXIT.failed;
        },
      });
    });
};
