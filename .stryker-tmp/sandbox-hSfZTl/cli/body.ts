/** Bodies that an operator gives as a file or on standard input. */
// @ts-nocheck

import { CliError } from './errors.ts';
import type { Io } from './io.ts';

/** Reads JSON from a file, or from standard input for `-`. The control plane judges what it says. */
export async function readBody(file: string, io: Io): Promise<unknown> {
  const name = file === '-' ? 'standard input' : file;
  const text = await readText(file, name, io);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(
      'BadFile',
      {
        what: `${name} is not JSON`,
        why: error instanceof Error ? error.message : String(error),
        next: 'the body is the JSON that `holdoff openapi` describes',
      },
      { cause: error },
    );
  }
}

async function readText(file: string, name: string, io: Io): Promise<string> {
  try {
    return file === '-' ? await io.readStdin() : await io.readFile(file);
  } catch (error) {
    throw new CliError(
      'BadFile',
      {
        what: `${name} cannot be read`,
        why: error instanceof Error ? error.message : String(error),
        next: 'name a file that exists, or - for standard input',
      },
      { cause: error },
    );
  }
}
