/** `holdoff completion SHELL`: what a shell needs to complete command lines; `complete-words` is what it then asks. */
import { Argument, type Command, Option } from 'commander';
import { oneCell } from '../../present/text.ts';
import type { CommandModule, Tools } from '../command.ts';
import { askIds } from '../completion/ids.ts';
import { type Candidate, placeOf } from '../completion/place.ts';
import { SCRIPTS, type Shell, SHELLS } from '../completion/scripts.ts';
import type { ConnectionOptions } from '../connection.ts';
import { EXIT, type ExitCode } from '../errors.ts';

const HELP = `
Commands, options, their values, and the ids of nodes, VMs and groups: those are asked of the control plane, for at most a
second. For this shell, and for each that is opened later:

  bash   source <(holdoff completion bash)         the same line in ~/.bashrc
  zsh    source <(holdoff completion zsh)          the same line in ~/.zshrc, after compinit
  fish   holdoff completion fish | source          holdoff completion fish > ~/.config/fish/completions/holdoff.fish`;

/** Adds the commands; the second is for shells, and in no help. */
export const completionCommand: CommandModule = (program, accept) => {
  program
    .command('completion')
    .description('what a shell needs to complete words: bash, zsh, fish')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: Shell) => {
      accept({ name: 'completion', options: {}, run: (tools) => printScript(tools, shell) });
    });
  program
    .command('complete-words', { hidden: true })
    .addOption(new Option('--shell <shell>', 'who asks').choices(SHELLS).makeOptionMandatory())
    .argument('[words...]', 'the words behind the name of the program; the last is the one under the cursor')
    .action((words: readonly string[], { shell }: { shell: Shell }) => {
      accept({ name: 'complete-words', options: {}, run: (tools) => complete(tools, program, { words, shell }) });
    });
};

async function printScript({ io }: Tools, shell: Shell): Promise<ExitCode> {
  io.out(SCRIPTS[shell]);
  return EXIT.ok;
}

type Asked = { readonly words: readonly string[]; readonly shell: Shell };

async function complete({ io }: Tools, program: Command, { words, shell }: Asked): Promise<ExitCode> {
  const whole = shell === 'bash' ? joined(words) : words;
  const current = whole.at(-1) ?? '';
  const place = placeOf(program, whole);
  // bash replaces what stands behind the last '=' alone.
  const kept = shell === 'bash' ? current.lastIndexOf('=') + 1 : 0;
  const offer = ({ word, says = '' }: Candidate): void => {
    if (word.startsWith(current)) io.out(`${oneCell(word.slice(kept))}\t${oneCell(says)}\n`);
  };
  place.words.forEach(offer);
  if (place.files) io.out(':files\n');
  if (place.asked.length > 0) {
    const prefix = current.startsWith('-') ? current.slice(0, current.indexOf('=') + 1) : '';
    await askIds(place.asked, { options: connectionOf(whole), io }, (id) => offer({ word: prefix + id }));
  }
  return EXIT.ok;
}

/** As they were typed: bash parts words at each `=`. */
function joined(words: readonly string[]): string[] {
  const whole: string[] = [];
  for (const [n, word] of words.entries()) {
    const goesOn = n > 0 && (word === '=' || words[n - 1] === '=');
    whole.push(goesOn ? `${whole.pop() ?? ''}${word}` : word);
  }
  return whole;
}

/** Whom to ask, as far as the line says it. */
function connectionOf(words: readonly string[]): ConnectionOptions {
  const said = (name: string): string | undefined => {
    const at = words.indexOf(name);
    const equal = words.find((word) => word.startsWith(`${name}=`));
    return equal === undefined ? (at < 0 ? undefined : words[at + 1]) : equal.slice(name.length + 1);
  };
  return { endpoint: said('--endpoint'), region: said('--region'), profile: said('--profile') };
}
