/** Bundles the CLI into one file: `node cli/build.mjs [outfile]`. Needs nothing but Node where it runs. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

/** @param {string} outfile */
export async function buildCli(outfile = resolve(here, '../dist/holdoff.mjs')) {
  await build({
    entryPoints: [resolve(here, 'main.ts')],
    outfile,
    bundle: true,
    minify: true,
    // The world of `simulate` knows the commands of the SDK by the names of their classes.
    keepNames: true,
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
  process.stdout.write(`${await buildCli(process.argv[2])}\n`);
}
