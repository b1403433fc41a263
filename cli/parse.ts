/** From a command line to what it asks for. Nothing is run, read or connected here. */
import { Command, CommanderError, Option } from 'commander';
import { API_VERSION } from '../core/contract/names.ts';
import { seconds } from '../core/kit/time.ts';
import type { CommandModule, GlobalOptions, Invocation } from './command.ts';
import { EXIT, EXIT_CODE_HELP, type ExitCode } from './errors.ts';
import { splitJsonFields } from './fields.ts';
import { timeoutOption } from './options.ts';

/** Either something to run, or nothing more to do: help was printed, or the command line was refused. */
export type Parsed =
  | { readonly kind: 'run'; readonly invocation: Invocation; readonly global: GlobalOptions }
  | { readonly kind: 'done'; readonly exitCode: ExitCode };

/** Where help and usage errors go. */
export type Streams = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly width?: number;
};

const DESCRIPTION = `Holdoff keeps nodes updated and VMs running, and makes crash loops safe.

Without --endpoint it asks the control plane that \`npm start\` runs in this directory.
In this repository it is called as: npm run holdoff -- COMMAND
(in a pipe as npm run -s holdoff -- COMMAND, so that npm prints nothing of its own).`;

const HELP = `
Examples:
  holdoff summary                      what needs attention
  holdoff nodes                        every node: phase, crashes, "retry in 12 s", and why
  holdoff explain web                  what happened to it, why, what next and when
  holdoff vms show web                 one VM in full
  holdoff events --follow              the log as it grows
  holdoff nodes --json | jq .items     what the API says
  holdoff nodes --json nodeId,phase    two fields of each, as an array
  holdoff groups pause --all           a verb on many: the list first, then a question (--yes: none)
  source <(holdoff completion bash)    words are completed; also zsh and fish
  holdoff nodes --endpoint https://abc.execute-api.us-east-1.amazonaws.com --profile ops

Environment:
  HOLDOFF_ENDPOINT, HOLDOFF_REGION     the same as --endpoint and --region
  HOLDOFF_DATA                         where \`npm start\` keeps its data (default: .holdoff)
  NO_COLOR                             no colours, when set`;

/** Understands a command line with the commands given. */
export function parseCommandLine(argv: readonly string[], modules: readonly CommandModule[], streams: Streams): Parsed {
  let invocation: Invocation | undefined;
  const program = createProgram(streams);
  for (const add of modules) add(program, (understood) => void (invocation = understood));
  try {
    program.parse(argv.length === 1 && argv[0] === '--version' ? ['-V'] : splitJsonFields(argv), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'done', exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage };
  }
  if (invocation === undefined) return { kind: 'done', exitCode: EXIT.usage };
  const { json, jsonFields, ...global } = program.opts<
    Omit<GlobalOptions, 'json' | 'fields'> & { json?: boolean; jsonFields?: string }
  >();
  const fields = jsonFields === undefined ? {} : { fields: jsonFields.split(',') };
  return { kind: 'run', invocation, global: { ...global, json: json === true, ...fields } };
}

function createProgram({ out, err, width = 80 }: Streams): Command {
  const program = new Command('holdoff');
  program
    .exitOverride()
    .configureOutput({ writeOut: out, writeErr: err, getOutHelpWidth: () => width, getErrHelpWidth: () => width })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(add --help to see how it is used)')
    .description(DESCRIPTION)
    // Of a list, --version is what its nodes run: the program's own stands alone.
    .version(`holdoff, API ${API_VERSION}`, '-V', 'the version of this program, as --version alone')
    .option('--json', "print the API's JSON, errors too; --json FIELD,FIELD: only these, of a list as an array")
    .addOption(new Option('--json-fields <list>').hideHelp())
    .option('--endpoint <url>', 'a deployed control plane, with the usual AWS credentials')
    .option('--region <region>', 'its Region, when the endpoint does not name it')
    .option('--profile <name>', 'the AWS profile to use with --endpoint')
    .addOption(timeoutOption().default(seconds(15), '15s'))
    .addHelpText('after', HELP)
    .addHelpText('afterAll', EXIT_CODE_HELP);
  return program;
}
