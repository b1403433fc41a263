/** Builds the page into a folder: `node console/build.mjs [folder]`. One script, one style sheet, one document. */
import { copyFile, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));

/** @param {string} folder */
export async function buildPage(folder = resolve(here, '../dist/console')) {
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: [
      { in: resolve(here, 'main.tsx'), out: 'console' },
      { in: resolve(here, 'console.css'), out: 'console' },
    ],
    outdir: folder,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: resolve(here, 'tsconfig.json'),
    logLevel: 'warning',
  });
  await Promise.all(['index.html', 'icon.svg'].map((name) => copyFile(join(here, name), join(folder, name))));
  return folder;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${await buildPage(process.argv[2])}\n`);
}
