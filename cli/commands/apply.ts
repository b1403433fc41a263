/** `apply FILE…` and `export`: groups and VMs as files (DESIGN section 2b). */
import type { CommandModule, Tools } from '../command.ts';
import { apply, type ApplyOptions } from '../declared/apply.ts';
import { declaredText, readDeclared } from '../declared/file.ts';
import { planOf } from '../declared/plan.ts';
import { exported, readPresent } from '../declared/present.ts';
import { EXIT, type ExitCode } from '../errors.ts';

const APPLY_HELP = `
A file is YAML or JSON, by name, with the bodies of the API:

  groups:
    canary: { maxConcurrentUpdates: 1 }
    web:
      maxConcurrentUpdates: 10%
      after: { group: canary, soak: 24h }
  vms:
    database: { hostId: i-0123456789abcdef0, runStrategy: Always, launch: { type: libvirt, domain: db } }

What would change is printed field by field and asked for; applying again changes nothing. What the files do not name is left
alone, or with --prune deleted: of a kind that they speak of, never the group default. - reads one from standard input.

Examples:
  holdoff export > fleet.yaml
  holdoff apply fleet.yaml --dry-run
  holdoff apply groups.yaml vms.json --yes`;

export const applyCommands: CommandModule = (program, accept) => {
  program
    .command('apply')
    .description('make groups and VMs what files declare; what would change is shown and asked for first')
    .argument('<files...>', 'YAML or JSON; - reads standard input')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only show what would change')
    .option('--prune', 'delete what the files do not name')
    .addHelpText('after', APPLY_HELP)
    .action((files: string[], options: ApplyOptions) =>
      accept({ name: 'apply', options: { files, ...options }, run: (tools) => applyFiles(tools, files, options) }),
    );
  program
    .command('export')
    .description('the present groups and VMs in the form that `apply` takes: YAML, or JSON with --json')
    .action(() => accept({ name: 'export', options: {}, run: exportAll }));
};

async function applyFiles(tools: Tools, files: readonly string[], options: ApplyOptions): Promise<ExitCode> {
  const declared = await readDeclared(files, tools.io);
  const present = await readPresent(await tools.client());
  return apply(tools, planOf(declared, present, options.prune === true), options);
}

async function exportAll(tools: Tools): Promise<ExitCode> {
  const declared = exported(await readPresent(await tools.client()));
  tools.io.out(tools.json ? `${JSON.stringify(declared, null, 2)}\n` : declaredText(declared));
  return EXIT.ok;
}
