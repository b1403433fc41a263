/**
 * The scripts of a host that is not Bottlerocket: programs of its owner that know how it is updated. They are listed in a
 * file of the host; there is no shell between, and a version reaches them as an environment variable only.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { AgentError, messageOf } from '../../failure.ts';

const command = (): z.ZodMiniArray<z.ZodMiniString> =>
  z
    .array(z.string())
    .check(
      z.refine((line) => line[0]?.startsWith('/') === true, 'must be a list whose first item is an absolute path'),
    );

const scriptsSchema = z.strictObject({
  /** Prints the running version. */
  version: command(),
  /** Prints the version that is offered, or nothing. HOLDOFF_VERSION_LOCK names the only one that is wanted, if set. */
  check: command(),
  /** Fetches HOLDOFF_VERSION, and changes nothing of what runs or boots. */
  prepare: command(),
  /** Makes HOLDOFF_VERSION the one that boots next. */
  activate: command(),
  /** Takes that back. */
  deactivate: command(),
  /** Asks for the reboot and returns. */
  reboot: command(),
});
export type Scripts = z.infer<typeof scriptsSchema>;

/** Reads the list. Throws a Settings error that says what is wrong. */
export function readScripts(file: string): Scripts {
  try {
    const parsed = scriptsSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (parsed.success) return parsed.data;
    throw new AgentError('Settings', z.prettifyError(parsed.error));
  } catch (error) {
    throw new AgentError(
      'Settings',
      `--scripts (HOLDOFF_SCRIPTS): ${file} must be JSON with a command for each of ${Object.keys(scriptsSchema.shape).join(', ')}: ${messageOf(error)}`,
    );
  }
}
