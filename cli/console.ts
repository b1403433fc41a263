/** The console of a live guest: asked of its host, then waited for. */
import { callOf } from '../client/request.ts';
import { ROUTES } from '../core/contract/routes.ts';
import type { VmId } from '../core/kit/ids.ts';
import { between, minutes, sayDuration } from '../core/kit/time.ts';
import { harmlessLines } from '../present/text.ts';
import { readAnswer } from './answers.ts';
import type { Tools } from './command.ts';
import { CliError, EXIT, type ExitCode } from './errors.ts';
import { print } from './output.ts';

const ASK_EVERY_MS = 2000;
/** A host is woken at once; one that is not heard of within this time will not answer somebody who looks at a screen. */
const PATIENCE = minutes(2);

/** Asks for the console of a VM and prints it once its host has sent it. @throws {CliError} NotInTime */
export async function printConsole(tools: Tools, vmId: VmId): Promise<ExitCode> {
  const { io } = tools;
  const client = await tools.client();
  const begun = io.now();
  let seen = readAnswer('console', (await client.send(callOf(ROUTES.askConsole, { params: { vmId }, body: {} }))).body);
  while (seen.console === null) {
    if (io.interrupted.aborted) throw new CliError('Interrupted', { what: 'interrupted' });
    if (between(begun, io.now()) >= PATIENCE) throw silent(vmId);
    await io.sleep(ASK_EVERY_MS);
    seen = readAnswer('console', (await client.send(callOf(ROUTES.getConsole, { params: { vmId } }))).body);
  }
  const text = harmlessLines(seen.console).join('\n');
  print(tools, { json: seen, screen: () => text, piped: () => text });
  return EXIT.ok;
}

const silent = (vmId: VmId): CliError =>
  new CliError('NotInTime', {
    what: `the host of ${vmId} has sent no console within ${sayDuration(PATIENCE)}`,
    why: 'it was asked, and answers with its next report; a host that is off or cut off does not',
    next: `see whether its host reports: holdoff vms show ${vmId}; what it sends is kept for 10 min`,
  });
