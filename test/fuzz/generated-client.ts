/** Two more judges of the API's document: a validator, and a Python client generated from it that is put to use. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensurePython } from './python.ts';

/**
 * @param file the document as it is served
 * @param dir where the client may be generated
 * @param url of a control plane that signs for whoever calls
 * @returns true when the document is valid and the client did its work
 */
export async function tryGeneratedClient(file: string, dir: string, url: string): Promise<boolean> {
  const commands = ensurePython('.venv-clients', 'clients.requirements.txt');
  const steps: readonly (readonly [string, readonly string[]])[] = [
    ['openapi-spec-validator', [file]],
    ['openapi-python-client', ['generate', '--path', file, '--meta', 'none', '--output-path', join(dir, 'holdoff')]],
    ['python', [join(import.meta.dirname, 'use_client.py'), url]],
  ];
  for (const [command, args] of steps) {
    const code = await new Promise<number | null>((done) => {
      spawn(join(commands, command), args, {
        env: { ...process.env, PYTHONPATH: dir, PYTHONDONTWRITEBYTECODE: '1' },
        stdio: 'inherit',
      }).once('exit', done);
    });
    if (code !== 0) {
      process.stdout.write(`${command} failed: ${String(code)}\n`);
      return false;
    }
  }
  return true;
}
