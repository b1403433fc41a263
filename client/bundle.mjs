/** How a program that runs by itself is bundled: one file that needs nothing but Node where it runs. */
import { build } from 'esbuild';

/** @param {{ entry: string, outfile: string, keepNames?: boolean }} options @returns {Promise<string>} the file written */
export async function bundleProgram({ entry, outfile, keepNames = false }) {
  await build({
    entryPoints: [entry],
    outfile,
    keepNames,
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
