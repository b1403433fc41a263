/** `holdoff console`: the page that shows the fleet, for a deployed control plane, with the user's own credentials. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { fetchTransport } from '../../client/client.ts';
import { type PageServer, startPageServer, USUAL_PAGE_PORT } from '../../client/page-server.ts';
import { createSigner } from '../../client/sign.ts';
import type { CommandModule, Tools } from '../command.ts';
import { CliError, EXIT, type ExitCode } from '../errors.ts';

type ConsoleOptions = { readonly port: number };

const TIMEOUT_MS = 30_000;

const HELP = `
Opens nothing by itself: it prints an address on 127.0.0.1, whose last part is the key of this run. Requests are signed
with the credentials of this command, and only those of its own page. Ctrl-C ends it.

Examples:
  holdoff console
  holdoff console --endpoint https://abc.execute-api.eu-west-1.amazonaws.com/live --profile ops`;

/** Adds the command. */
export const consoleCommand: CommandModule = (program, accept) => {
  program
    .command('console')
    .description('serve the page that shows the fleet, on 127.0.0.1, until Ctrl-C')
    .option(
      '--port <N>',
      `its port; a free one when ${USUAL_PAGE_PORT} is taken, 0 for any`,
      portArgument,
      USUAL_PAGE_PORT,
    )
    .addHelpText('after', HELP)
    .action((options: ConsoleOptions) => {
      accept({ name: 'console', options, run: (tools) => serve(tools, options) });
    });
};

function portArgument(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
}

async function serve({ io, json, connection }: Tools, { port }: ConsoleOptions): Promise<ExitCode> {
  const { endpoint, region, credentials } = await connection();
  const sign = createSigner({ region, identity: credentials, wallMs: io.now });
  const transport = fetchTransport(TIMEOUT_MS);
  const server = await listening({ endpoint, sign, transport, pageDir: builtPage(), port });
  io.out(
    json
      ? `${JSON.stringify({ address: server.address, endpoint })}\n`
      : io.isTty
        ? `The fleet of ${endpoint} as a page:\n  ${server.address}\nCtrl-C ends it.\n`
        : `${server.address}\n`,
  );
  await new Promise<void>((done) => {
    if (io.interrupted.aborted) done();
    io.interrupted.addEventListener('abort', () => done(), { once: true });
  });
  await server.close();
  return EXIT.ok;
}

async function listening(options: Parameters<typeof startPageServer>[0]): Promise<PageServer> {
  try {
    return await startPageServer(options);
  } catch (error) {
    throw new CliError(
      'Usage',
      {
        what: `the console cannot listen on port ${options.port} of 127.0.0.1`,
        why: error instanceof Error ? error.message : String(error),
        next: 'choose another with --port N, or let it find a free one with --port 0',
      },
      { cause: error },
    );
  }
}

/** In a checkout the page is built from its sources; a package brings it built. */
function builtPage(): string {
  const root = [resolve(import.meta.dirname, '../..'), resolve(import.meta.dirname, '..'), import.meta.dirname];
  const script = root
    .filter((folder) => existsSync(join(folder, 'cli/commands/console.ts')))
    .map((folder) => join(folder, 'console/build.mjs'))
    .find((path) => existsSync(path));
  if (script !== undefined)
    return execFileSync(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' }).trim();
  const built = root
    .flatMap((folder) => [join(folder, 'dist/console'), join(folder, 'console')])
    .find((folder) => existsSync(join(folder, 'index.html')));
  if (built !== undefined) return built;
  throw new CliError('Usage', {
    what: 'the page is not there',
    why: 'this installation has neither its sources nor the built page',
    next: 'install the package again, or run `npm run console:build` in a checkout',
  });
}
