/** Bundles the agent into one file: `node agent/build.mjs [outfile]`. Needs nothing but Node on the host. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from '../client/bundle.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));

/** @param {string} outfile */
export const buildAgent = (outfile = resolve(here, '../dist/agent.mjs')) =>
  bundleProgram({ entry: resolve(here, 'main.ts'), outfile });

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${await buildAgent(process.argv[2])}\n`);
}
