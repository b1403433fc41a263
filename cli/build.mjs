/** Bundles the CLI into one file: `node cli/build.mjs [outfile]`. Needs nothing but Node where it runs. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../client/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));

/** @param {string} outfile */
export const buildCli = (outfile = resolve(here, '../dist/holdoff.mjs')) =>
  // The world of `simulate` knows the commands of the SDK by the names of their classes.
  bundleProgram({ entry: resolve(here, 'main.ts'), outfile, keepNames: true });

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${await buildCli(process.argv[2])}\n`);
}
