/** Bundles the agent into one file: `node agent/build.mjs [outfile]`. Needs nothing but Node on the host. */
// @ts-nocheck

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

/** @param {string} outfile */
export async function buildAgent(outfile = resolve(here, '../dist/agent.mjs')) {
  await build({
    entryPoints: [resolve(here, 'main.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    mainFields: ['module', 'main'],
    logLevel: 'warning',
    // Some packages of the SDK are CommonJS inside and ask for `require`.
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as holdoffRequire } from 'node:module'; const require = holdoffRequire(import.meta.url);",
    },
  });
  return outfile;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${await buildAgent(process.argv[2])}\n`);
}
