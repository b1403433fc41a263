/**
 * Pure suites in one process: bundled once together with the sources they test, and evaluated anew as often as somebody
 * asks, without a worker that loads every module. What is tested can differ from what is on the disk.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Script } from 'node:vm';
import { build } from 'esbuild';

const DOUBLE = 'test/mutation/vitest-double.mjs';

/** @typedef {import('./pure-suites.d.mts').Collected} Collected */

/** Every test file behind a call that names it, then what was collected. @param {readonly string[]} files */
function entry(files) {
  const paths = files.map((path) => JSON.stringify(path));
  return [
    `const { collected, enter } = require('./${DOUBLE}');`,
    ...paths.map((path) => `enter(${path}); require('./' + ${path});`),
    'module.exports = collected;',
  ].join('\n');
}

/**
 * The sources as the bundle sees them: with a change, and with the one thing that a file knows of its place, which is lost
 * in a bundle.
 */
const sources = (root, change) => ({
  name: 'sources',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const inside = relative(root, path).split(sep).join('/');
      if (inside.startsWith('..') || inside.startsWith('node_modules/')) return undefined;
      const text = readFileSync(path, 'utf8').replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
      return { contents: change(inside, text), loader: 'ts' };
    }),
});

/**
 * @param {string} root the repository
 * @param {readonly string[]} files the test files, in the order in which their tests are to run
 * @param {(file: string, text: string) => string} change what a source says instead of what is on the disk
 * @returns {Promise<() => Collected[]>} evaluates every module anew and gives the tests
 */
export async function bundleSuites(root, files, change = (_, text) => text) {
  const { outputFiles } = await build({
    stdin: { contents: entry(files), resolveDir: root, sourcefile: 'pure-suites.js' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    // The virtual AWS knows commands, and some errors are known, by the name of their class.
    keepNames: true,
    // Whatever has no state of ours is loaded once.
    external: ['@vitest/expect', 'chai', 'fast-check', 'esbuild'],
    alias: { vitest: resolve(root, DOUBLE) },
    plugins: [sources(root, change)],
    logLevel: 'error',
  });
  const script = new Script(`(function (require, module) {${outputFiles[0].text}\n})`, { filename: 'pure-suites.js' });
  const load = script.runInThisContext();
  const require = createRequire(join(root, 'package.json'));
  return () => {
    const module = { exports: [] };
    load(require, module);
    return module.exports;
  };
}

/** What a test says is wrong; nothing when it passes. @param {() => unknown} run */
export async function failureOf(run) {
  try {
    await run();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
