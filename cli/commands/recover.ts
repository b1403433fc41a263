/** `holdoff recover`: after the table was restored from an older copy (docs/runbooks/restore.md). */
import type { RecoverAnswer } from '../../core/contract/answers.ts';
import { callOf } from '../../client/request.ts';
import { ROUTES } from '../../core/contract/routes.ts';
import { readAnswer } from '../answers.ts';
import type { CommandModule, Tools } from '../command.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { print } from '../output.ts';

type RecoverOptions = { readonly yes: true; readonly force?: true };

const HELP = `
What it does, in this order, page by page:
  pauses every group; lets no VM start before its host was heard; raises the generation of every node,
  so that nothing of the history that was lost can be taken for newer. Whatever runs is left where it is.
  If it ends early, run it again: it goes on. Afterwards resume each group by hand.

Row in a pipe:
  finishedAt groups vms nodes`;

/** Adds the command. */
export const recoverCommand: CommandModule = (program, accept) => {
  program
    .command('recover')
    .description('after a restore from an older copy: pause all groups and leave every VM where it is')
    .requiredOption('--yes', 'yes: all groups are paused, and no VM starts before its host was heard')
    .option('--force', 'also when the table was restored under its own name, or was recovered before')
    .addHelpText('after', HELP)
    .action((options: RecoverOptions) => {
      accept({ name: 'recover', options, run: (tools) => recover(tools, options.force === true) });
    });
};

async function recover(tools: Tools, force: boolean): Promise<ExitCode> {
  const client = await tools.client();
  const touched = { groups: 0, vms: 0, nodes: 0 };
  let page: RecoverAnswer | null = null;
  let cursor: string | undefined;
  do {
    const body = { ...(force ? { force } : {}), ...(cursor === undefined ? {} : { cursor }) };
    page = readAnswer('recovery', (await client.send(callOf(ROUTES.recover, { body }))).body);
    touched.groups += page.touched.groups;
    touched.vms += page.touched.vms;
    touched.nodes += page.touched.nodes;
    cursor = page.cursor;
  } while (cursor !== undefined);
  const { groups, vms, nodes } = touched;
  const finishedAt = page.recovery.finishedAt ?? '';
  print(tools, {
    json: { ...page, touched },
    screen: () =>
      `Recovered at ${finishedAt}: ${groups} groups are paused, ${vms} VMs wait for their hosts, ${nodes} nodes were asked for Idle.\nLook at \`holdoff summary\` until the hosts have reported, then \`holdoff groups resume GROUP\`.`,
    piped: () => [finishedAt, groups, vms, nodes].join('\t'),
  });
  return EXIT.ok;
}
