/** `holdoff doctor`: is the machinery itself well, and what to do where it is not. */
import { separated, table } from '../../present/table.ts';
import { counted } from '../../present/text.ts';
import { paint, type Tone } from '../../present/tone.ts';
import type { CommandModule, Tools } from '../command.ts';
import type { Connection } from '../connection.ts';
import { examine, unknownPlane } from '../doctor/doctor.ts';
import type { Finding, FindingStatus } from '../doctor/finding.ts';
import { CliError, EXIT, type ExitCode } from '../errors.ts';
import { prefixOption } from '../options.ts';
import { print } from '../output.ts';
import type { Surface } from '../../present/table.ts';

const HELP = `
Looks at credentials, endpoint, clock and access; at the sweep, overdue waits and the versions of agents, as the API tells
them; and at alarms, dead letters, documents, schedules and quotas in the AWS account, as far as your credentials may ask.
What it could not look at is 'unchecked', and says why: that is neither well nor ill. It changes nothing.

Examples:
  holdoff doctor
  holdoff doctor --endpoint https://abc.execute-api.eu-west-1.amazonaws.com/live --profile ops
  holdoff doctor --json | jq '.findings[] | select(.status != "ok")'

Columns in a pipe:
  check status found remedy

Exit codes: 0 when nothing failed (a warning is 0), 1 when something did.`;

type DoctorOptions = { readonly prefix: string };

/** Adds the command. */
export const doctorCommand: CommandModule = (program, accept) => {
  program
    .command('doctor')
    .description('is the machinery itself well, and what to do where it is not')
    .addOption(prefixOption())
    .addHelpText('after', HELP)
    .action((options: DoctorOptions) => {
      accept({ name: 'doctor', options, run: (tools) => doctor(tools, options) });
    });
};

async function doctor(tools: Tools, { prefix }: DoctorOptions): Promise<ExitCode> {
  const findings = await look(tools, prefix);
  const failed = findings.some(({ status }) => status === 'fail');
  print(tools, {
    json: { ok: !failed, findings },
    screen: () => page(findings, tools.surface()),
    piped: () => separated(findings.map(({ check, status, found, remedy = '' }) => [check, status, found, remedy])),
  });
  return failed ? EXIT.failed : EXIT.ok;
}

async function look(tools: Tools, prefix: string): Promise<Finding[]> {
  const { io, timeout } = tools;
  let connection: Connection;
  try {
    connection = await tools.connection();
  } catch (error) {
    // A command line that contradicts itself is refused as everywhere.
    if (error instanceof CliError && error.code !== 'Usage') return unknownPlane(error);
    throw error;
  }
  const endpoint = io.env['AWS_ENDPOINT_URL'];
  return examine({
    connection,
    client: await tools.client(),
    // The SDK is not loaded where nothing is asked of AWS.
    account: async () =>
      (await import('../doctor/account.ts')).accountOf(connection, { now: io.now, timeoutMs: timeout, endpoint }),
    prefix,
    timeout,
    io,
  });
}

const TONES: Record<FindingStatus, Tone> = { ok: 'good', warn: 'warn', fail: 'bad', unchecked: 'quiet' };

function page(findings: readonly Finding[], surface: Surface): string {
  const rows = findings.map(({ check, status, found, remedy }) => [
    { text: check },
    { text: status, tone: TONES[status] },
    { text: remedy === undefined ? found : `${found}. Then: ${remedy}` },
  ]);
  return [
    table([{ title: 'CHECK' }, { title: '' }, { title: 'FOUND' }], rows, surface),
    '',
    verdict(findings, surface),
  ].join('\n');
}

function verdict(findings: readonly Finding[], surface: Surface): string {
  const of = (status: FindingStatus): number => findings.filter((one) => one.status === status).length;
  const [failed, warned, unknown] = [of('fail'), of('warn'), of('unchecked')];
  const rest = unknown === 0 ? '' : ` ${counted(unknown, 'check', 'checks')} could not be made.`;
  if (failed > 0) return paint(`${counted(failed, 'check', 'checks')} failed.${rest}`, 'bad', surface);
  if (warned > 0) return paint(`Nothing failed; ${counted(warned, 'warning', 'warnings')}.${rest}`, 'warn', surface);
  return paint(`Nothing is wrong.${rest}`, 'good', surface);
}
