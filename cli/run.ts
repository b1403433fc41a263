/** Runs a command line: parse, connect, do, and turn every failure into a message and an exit code. */
import { createClient, type Client } from './client.ts';
import type { CommandModule, GlobalOptions, Tools } from './command.ts';
import { resolveConnection } from './connection.ts';
import { CliError, ProblemError, type ExitCode } from './errors.ts';
import { checkFields } from './fields.ts';
import { wantsColour, type Io } from './io.ts';
import { parseCommandLine } from './parse.ts';
import { failureJson, failureText } from './failures.ts';
import { sayingUnreadable } from './unreadable.ts';

/** Understands and runs a command line; resolves with the exit code. Only a mistake in this program rejects. */
export async function runCommandLine(
  argv: readonly string[],
  modules: readonly CommandModule[],
  io: Io,
): Promise<ExitCode> {
  const parsed = parseCommandLine(argv, modules, { out: io.out, err: io.err, width: io.size().width });
  if (parsed.kind === 'done') return parsed.exitCode;
  const { invocation, global } = parsed;
  try {
    if (global.fields !== undefined) checkFields(invocation, global.fields);
    return await invocation.run(createTools(global, io));
  } catch (error) {
    if (!(error instanceof CliError || error instanceof ProblemError)) throw error;
    io.err(
      global.json
        ? `${JSON.stringify(failureJson(error, invocation), null, 2)}\n`
        : `${failureText(error, invocation, { colour: wantsColour(io), width: io.size().width })}\n`,
    );
    return error.exitCode;
  }
}

function createTools(global: GlobalOptions, io: Io): Tools {
  let client: Promise<Client> | undefined;
  return {
    io,
    json: global.json,
    fields: global.fields,
    timeout: global.timeout,
    surface: (fit = 'wrap') => ({ width: io.size().width, colour: wantsColour(io), now: io.now(), fit }),
    client: () => (client ??= connect(global, io)),
    connection: () => resolveConnection(global, io),
  };
}

async function connect(global: GlobalOptions, io: Io): Promise<Client> {
  const { timeout } = global;
  const client = createClient(await resolveConnection(global, io), {
    timeout,
    interrupted: io.interrupted,
    now: io.now,
  });
  return sayingUnreadable(client, io.err);
}
